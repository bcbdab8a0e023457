/* bcryptprimitives.dll for a Wine that lacks it: Rust's standard library takes random numbers from it. */
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *bytes, unsigned long length);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t length) {
    return SystemFunction036(bytes, (unsigned long)length);
}
