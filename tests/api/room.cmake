twinloom_test(api api_c nlohmann_json::nlohmann_json)
