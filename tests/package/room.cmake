twinloom_test(package api)
