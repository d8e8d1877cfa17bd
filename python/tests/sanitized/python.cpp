// python3 with a sanitizer's runtime, which has to be there before everything else: clang's shared
// runtime of ThreadSanitizer ends in its first interceptor where it is preloaded into Debian's.

#include <Python.h>

int main(int count, char** words) { return Py_BytesMain(count, words); }
