twinloom_test(api api_c)
