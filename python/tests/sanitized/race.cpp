// Two threads that call this race: what looks on has to see it.

#include <unistd.h>

namespace {
volatile long count = 0;
}

extern "C" __attribute__((visibility("default"))) void race() {
  for (int i = 0; i < 100; ++i) {
    count = count + 1;
    usleep(1000);
  }
}
