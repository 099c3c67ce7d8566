/* A stand-in for the CUDA runtime: hands out addresses, so that the caching allocator of PyTorch runs without a GPU.
   Nothing is computed: kernels do not run, copies from the device are zeros. build.py adds a function that returns 0
   for every other symbol that PyTorch's libraries want.

   STAND_IN_DEVICES: number of devices (1). STAND_IN_MIB: memory of each (1024). */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100 };
enum { DEVICES = 16, BLOCKS = 1 << 16, PAGE = 2 << 20 };

static struct { uint64_t address; size_t bytes; int device; } blocks[BLOCKS];
static size_t used[DEVICES];
static uint64_t next_address = UINT64_C(0x600000000000);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current;
static __thread int last_error;
static uint64_t next_handle = 0x1000;

static long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

static size_t capacity(void) { return (size_t)setting("STAND_IN_MIB", 1024) << 20; }

static int failed(int error) { return last_error = error; }

static int new_handle(void **handle) {
    *handle = (void *)__sync_add_and_fetch(&next_handle, 16);
    return OK;
}

int cudaGetDeviceCount(int *count) {
    long devices = setting("STAND_IN_DEVICES", 1);
    *count = devices > DEVICES ? DEVICES : (int)devices;
    return *count ? OK : NO_DEVICE;
}
int cudaGetDevice(int *device) { *device = current; return OK; }
int cudaSetDevice(int device) { current = device; return OK; }

int cudaMalloc(void **address, size_t bytes) {
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    int place = 0, error = OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    while (place < BLOCKS && blocks[place].bytes) place++;
    if (place < BLOCKS && used[current] + whole <= capacity()) {
        blocks[place].address = next_address;
        blocks[place].bytes = whole;
        blocks[place].device = current;
        used[current] += whole;
        *address = (void *)next_address;
        next_address += whole;
        error = OK;
    }
    pthread_mutex_unlock(&lock);
    return error ? failed(error) : OK;
}
int cudaFree(void *address) {
    pthread_mutex_lock(&lock);
    for (int place = 0; address && place < BLOCKS; place++) {
        if (blocks[place].bytes && blocks[place].address == (uint64_t)address) {
            used[blocks[place].device] -= blocks[place].bytes;
            blocks[place].bytes = 0;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return OK;
}
int cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    *total = capacity();
    *free_bytes = *total - used[current];
    return OK;
}
int cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
    (void)flags;
    *address = malloc(bytes);
    return *address ? OK : failed(OUT_OF_MEMORY);
}
int cudaFreeHost(void *address) { free(address); return OK; }

/* The fields that PyTorch looks at, by their offsets, which CUDA 12 and 13 share; the number of processors moved. */
int cudaGetDeviceProperties_v2(char *properties, int device) {
    int *numbers = (int *)properties;
    memset(properties, 0, 768);
    strcpy(properties, "Stand-in for a GPU");
    properties[256] = (char)(device + 1);
    *(size_t *)(properties + 288) = capacity();
    *(size_t *)(properties + 296) = 49152;
    numbers[304 / 4] = 65536;
    numbers[308 / 4] = 32;
    for (int place = 320; place < 336; place += 4) numbers[place / 4] = 1024;
    for (int place = 336; place < 348; place += 4) numbers[place / 4] = 65535;
    numbers[360 / 4] = 8;
    /* Threads of a processor are somewhere behind; the other fields are not looked at. */
    for (int place = 384; place < 704; place += 4) numbers[place / 4] = 2048;
    numbers[384 / 4] = numbers[388 / 4] = 64;
    return OK;
}
int cudaGetDeviceProperties(char *properties, int device) { return cudaGetDeviceProperties_v2(properties, device); }
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    /* Threads of a block, bytes shared by a block, processors, compute capability. */
    *value = attribute == 1 ? 1024 : attribute == 8 ? 49152 : attribute == 16 ? 64 : attribute == 75 ? 8 : 0;
    return OK;
}
int cudaDeviceGetPCIBusId(char *text, int length, int device) {
    snprintf(text, (size_t)length, "0000:%02x:00.0", device);
    return OK;
}
int cudaFuncGetAttributes(int *attributes, const void *function) {
    (void)function;
    memset(attributes, 0, 64);
    attributes[6] = 1024; /* threads of a block, behind three sizes */
    attributes[7] = 32;
    attributes[8] = attributes[9] = 80;
    return OK;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks_of_one) { *blocks_of_one = 2; return OK; }

int cudaGetLastError(void) { int error = last_error; last_error = OK; return error; }
int cudaPeekAtLastError(void) { return last_error; }
const char *cudaGetErrorString(int error) {
    return error == OUT_OF_MEMORY ? "out of memory" : error == NO_DEVICE ? "no CUDA-capable device is detected" : "error";
}
const char *cudaGetErrorName(int error) { return error == OUT_OF_MEMORY ? "cudaErrorMemoryAllocation" : "cudaErrorUnknown"; }
int cudaRuntimeGetVersion(int *version) { *version = 12000; return OK; }
int cudaDriverGetVersion(int *version) { *version = 13020; return OK; }

int cudaEventCreate(void **event) { return new_handle(event); }
int cudaEventCreateWithFlags(void **event) { return new_handle(event); }
int cudaEventElapsedTime(float *milliseconds) { *milliseconds = 1; return OK; }
int cudaStreamCreateWithPriority(void **stream) { return new_handle(stream); }
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return OK; }
int cudaStreamIsCapturing(void *stream, int *status) { (void)stream; *status = 0; return OK; }
int cudaStreamGetCaptureInfo(void *stream, int *status, uint64_t *id) {
    (void)stream;
    *status = 0;
    if (id) *id = 0;
    return OK;
}
int cudaStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id) { return cudaStreamGetCaptureInfo(stream, status, id); }
int cudaStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id) { return cudaStreamGetCaptureInfo(stream, status, id); }

struct pointer { int type, device; void *of_device, *of_host; };
int cudaPointerGetAttributes(struct pointer *attributes, const void *address) {
    memset(attributes, 0, sizeof *attributes);
    if ((uint64_t)address >= UINT64_C(0x600000000000) && (uint64_t)address < next_address) {
        attributes->type = 2;
        attributes->of_device = (void *)address;
    }
    return OK;
}
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    (void)from;
    if (kind == 2) memset(to, 0, bytes); /* from the device to the host */
    return OK;
}
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active) {
    (void)device;
    *flags = 0;
    *is_active = 1;
    return OK;
}
int cuCtxGetCurrent(void **context) { return new_handle(context); }

static int refused(void) { return INVALID; }
int cudaGetDriverEntryPoint(const char *symbol, void **function, uint64_t flags, int *result) {
    (void)symbol, (void)flags;
    *function = (void *)refused;
    if (result) *result = 0;
    return OK;
}
int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version, uint64_t flags, int *result) {
    (void)version;
    return cudaGetDriverEntryPoint(symbol, function, flags, result);
}

void **__cudaRegisterFatBinary(void *binary) { static void *registered[4]; (void)binary; return registered; }
char __cudaInitModule(void **module) { (void)module; return 1; }

int cublasCreate_v2(void **handle) { return new_handle(handle); }
int cublasLtCreate(void **handle) { return new_handle(handle); }
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c, void *d, void *preference,
                                   int most, void *algorithms, int *count) {
    (void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d, (void)preference, (void)most, (void)algorithms;
    *count = 1;
    return OK;
}
int cusparseCreate(void **handle) { return new_handle(handle); }
int cusolverDnCreate(void **handle) { return new_handle(handle); }
int cudnnCreate(void **handle) { return new_handle(handle); }
/* The profiler does without CUPTI. */
int cuptiSubscribe(void) { return INVALID; }
int cuptiActivityEnable(void) { return INVALID; }
