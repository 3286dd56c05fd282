/* unserved.c - functions that a program may import and that are not served: they answer cudaErrorNotSupported.
 *
 * Graphics, external memory and semaphores, pools shared between processes. Their parameters do not matter here. A program
 * starts when every function that it imports is there, whether it calls it or not.
 */
#include "runtime/cudart/internal.h"

#define UNSERVED(X) \
    X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) X(cudaDeviceGetNvSciSyncAttributes) \
    X(cudaDeviceRegisterAsyncNotification) X(cudaDeviceUnregisterAsyncNotification) \
    X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect) X(cudaEGLStreamConsumerConnectWithFlags) \
    X(cudaEGLStreamConsumerDisconnect) X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect) \
    X(cudaEGLStreamProducerDisconnect) X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame) \
    X(cudaEventCreateFromEGLSync) X(cudaExternalMemoryGetMappedBuffer) X(cudaExternalMemoryGetMappedMipmappedArray) \
    X(cudaGLGetDevices) X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) X(cudaGLRegisterBufferObject) \
    X(cudaGLSetBufferObjectMapFlags) X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync) \
    X(cudaGLUnregisterBufferObject) X(cudaGetExportTable) X(cudaGraphAddExternalSemaphoresSignalNode) \
    X(cudaGraphAddExternalSemaphoresWaitNode) \
    X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphExternalSemaphoresSignalNodeGetParams) X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
    X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) X(cudaGraphicsGLRegisterImage) \
    X(cudaGraphicsMapResources) X(cudaGraphicsResourceGetMappedEglFrame) \
    X(cudaGraphicsResourceGetMappedMipmappedArray) X(cudaGraphicsResourceGetMappedPointer) \
    X(cudaGraphicsResourceSetMapFlags) X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
    X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
    X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaImportExternalMemory) X(cudaImportExternalSemaphore) \
    X(cudaMemPoolExportPointer) X(cudaMemPoolExportToShareableHandle) X(cudaMemPoolImportFromShareableHandle) \
    X(cudaMemPoolImportPointer) \
    X(cudaSignalExternalSemaphoresAsync) X(cudaSignalExternalSemaphoresAsync_ptsz) X(cudaVDPAUGetDevice) \
    X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) X(cudaWaitExternalSemaphoresAsync_ptsz)

#define UNSERVED_12(X) \
    X(cudaGetDeviceProperties) X(cudaLaunchCooperativeKernelMultiDevice) X(cudaSetDoubleForDevice) \
    X(cudaSetDoubleForHost) X(cudaSignalExternalSemaphoresAsync_v2) X(cudaSignalExternalSemaphoresAsync_v2_ptsz) \
    X(cudaWaitExternalSemaphoresAsync_v2) X(cudaWaitExternalSemaphoresAsync_v2_ptsz)

#define UNSERVED_13(X) \
    X(__cudaGetProcAddress) X(cudaDeviceGetHostAtomicCapabilities) X(cudaDeviceGetP2PAtomicCapabilities) \
    X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) X(cudaLogsRegisterCallback) \
    X(cudaLogsUnregisterCallback)

#define ANSWER(name) \
    API cudart_error name(void); \
    API cudart_error name(void) \
    { \
        return record(RT_cudaErrorNotSupported); \
    }

UNSERVED(ANSWER)
#if CUDART_MAJOR >= 13
UNSERVED_13(ANSWER)
#else
UNSERVED_12(ANSWER)
#endif
