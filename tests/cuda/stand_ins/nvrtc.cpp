// A library that says it is NVRTC of version 11.2.
extern "C" int nvrtcVersion(int* major, int* minor);

int nvrtcVersion(int* major, int* minor) {
  *major = 11;
  *minor = 2;
  return 0;
}
