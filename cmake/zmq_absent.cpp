// What Debian's libzmq.a wants of the libraries of two transports (PGM, NORM) and of a security mechanism
// (GSSAPI). sluice's endpoints are tcp:// and inproc://, with CURVE or without a mechanism: none of this is
// ever called, but for what a context does first and last. The libraries themselves would take a fifth of the
// start of a process (docs/benchmarks.md).
#include <cstdlib>

// Hidden: a library that is loaded later and needs the real ones finds those.
#define SLUICE_HIDDEN [[gnu::visibility("hidden")]]
#define SLUICE_ABSENT(function)   \
  SLUICE_HIDDEN void function() { \
    std::abort();                 \
  }
#define SLUICE_ABSENT_VALUE(name)              \
  SLUICE_HIDDEN extern const void* const name; \
  const void* const name = nullptr;

// clang-format off
extern "C" {

SLUICE_HIDDEN int pgm_init(void*) { return 1; }
SLUICE_HIDDEN int pgm_shutdown() { return 1; }

SLUICE_ABSENT_VALUE(GSS_C_NT_HOSTBASED_SERVICE)
SLUICE_ABSENT_VALUE(GSS_C_NT_USER_NAME)
SLUICE_ABSENT_VALUE(NORM_INSTANCE_INVALID)
SLUICE_ABSENT_VALUE(NORM_NODE_ANY)
SLUICE_ABSENT_VALUE(NORM_OBJECT_INVALID)
SLUICE_ABSENT_VALUE(NORM_SESSION_INVALID)

SLUICE_ABSENT(NormCreateInstance)
SLUICE_ABSENT(NormCreateSession)
SLUICE_ABSENT(NormDestroyInstance)
SLUICE_ABSENT(NormDestroySession)
SLUICE_ABSENT(NormGetDescriptor)
SLUICE_ABSENT(NormGetNextEvent)
SLUICE_ABSENT(NormGetRandomSessionId)
SLUICE_ABSENT(NormIsUnicastAddress)
SLUICE_ABSENT(NormNodeDelete)
SLUICE_ABSENT(NormObjectGetType)
SLUICE_ABSENT(NormObjectGetUserData)
SLUICE_ABSENT(NormObjectSetUserData)
SLUICE_ABSENT(NormSetCongestionControl)
SLUICE_ABSENT(NormSetDefaultSyncPolicy)
SLUICE_ABSENT(NormSetDefaultUnicastNack)
SLUICE_ABSENT(NormSetLoopback)
SLUICE_ABSENT(NormSetMulticastInterface)
SLUICE_ABSENT(NormSetRxPortReuse)
SLUICE_ABSENT(NormSetTTL)
SLUICE_ABSENT(NormStartReceiver)
SLUICE_ABSENT(NormStartSender)
SLUICE_ABSENT(NormStopInstance)
SLUICE_ABSENT(NormStopReceiver)
SLUICE_ABSENT(NormStopSender)
SLUICE_ABSENT(NormStreamFlush)
SLUICE_ABSENT(NormStreamOpen)
SLUICE_ABSENT(NormStreamRead)
SLUICE_ABSENT(NormStreamSeekMsgStart)
SLUICE_ABSENT(NormStreamWrite)
SLUICE_ABSENT(gss_accept_sec_context)
SLUICE_ABSENT(gss_acquire_cred)
SLUICE_ABSENT(gss_delete_sec_context)
SLUICE_ABSENT(gss_display_name)
SLUICE_ABSENT(gss_import_name)
SLUICE_ABSENT(gss_init_sec_context)
SLUICE_ABSENT(gss_release_buffer)
SLUICE_ABSENT(gss_release_cred)
SLUICE_ABSENT(gss_release_name)
SLUICE_ABSENT(gss_unwrap)
SLUICE_ABSENT(gss_wrap)
SLUICE_ABSENT(pgm_bind3)
SLUICE_ABSENT(pgm_close)
SLUICE_ABSENT(pgm_connect)
SLUICE_ABSENT(pgm_error_free)
SLUICE_ABSENT(pgm_free)
SLUICE_ABSENT(pgm_freeaddrinfo)
SLUICE_ABSENT(pgm_getaddrinfo)
SLUICE_ABSENT(pgm_getsockopt)
SLUICE_ABSENT(pgm_gsi_create_from_data)
SLUICE_ABSENT(pgm_recvmsgv)
SLUICE_ABSENT(pgm_send)
SLUICE_ABSENT(pgm_setsockopt)
SLUICE_ABSENT(pgm_socket)

}
// clang-format on
