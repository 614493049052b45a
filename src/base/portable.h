/* The versions of glibc's symbols that a build with -Dportable=true asks for, so that the library loads on every x86-64
 * Linux since glibc 2.17 (CentOS 7, RHEL 8, Debian 11). Meson puts it before every file of such a build, and no file
 * includes it. What has no old version at all is defined in portable.c. tests/checks/portable.sh says what is missing
 * here. */
#ifndef TD_PORTABLE_H
#define TD_PORTABLE_H

#define TD_OLD(name, version) __asm__(".symver " #name "," #name "@" version)

/* Until glibc 2.34 these were in libpthread.so.0, which the portable library therefore names as one that it needs. */
TD_OLD(pthread_create, "GLIBC_2.2.5");
TD_OLD(pthread_join, "GLIBC_2.2.5");
TD_OLD(pthread_detach, "GLIBC_2.2.5");
TD_OLD(pthread_once, "GLIBC_2.2.5");
TD_OLD(pthread_key_create, "GLIBC_2.2.5");
TD_OLD(pthread_key_delete, "GLIBC_2.2.5");
TD_OLD(pthread_getspecific, "GLIBC_2.2.5");
TD_OLD(pthread_setspecific, "GLIBC_2.2.5");
TD_OLD(pthread_mutex_trylock, "GLIBC_2.2.5");
TD_OLD(pthread_mutexattr_init, "GLIBC_2.2.5");
TD_OLD(pthread_mutexattr_settype, "GLIBC_2.2.5");
TD_OLD(pthread_mutexattr_destroy, "GLIBC_2.2.5");
TD_OLD(pthread_rwlock_rdlock, "GLIBC_2.2.5");
TD_OLD(pthread_rwlock_wrlock, "GLIBC_2.2.5");
TD_OLD(pthread_rwlock_unlock, "GLIBC_2.2.5");
TD_OLD(pthread_barrier_init, "GLIBC_2.2.5");
TD_OLD(pthread_barrier_wait, "GLIBC_2.2.5");
TD_OLD(pthread_barrier_destroy, "GLIBC_2.2.5");
TD_OLD(pthread_kill, "GLIBC_2.2.5");
TD_OLD(pthread_sigmask, "GLIBC_2.2.5");
TD_OLD(pthread_setaffinity_np, "GLIBC_2.3.4");
TD_OLD(pthread_getaffinity_np, "GLIBC_2.3.4");
TD_OLD(sem_init, "GLIBC_2.2.5");
TD_OLD(sem_post, "GLIBC_2.2.5");
TD_OLD(sem_wait, "GLIBC_2.2.5");
TD_OLD(sem_destroy, "GLIBC_2.2.5");

/* And these in libdl.so.2. */
TD_OLD(dlopen, "GLIBC_2.2.5");
TD_OLD(dlsym, "GLIBC_2.2.5");
TD_OLD(dlerror, "GLIBC_2.2.5");
TD_OLD(dlclose, "GLIBC_2.2.5");

/* The new versions differ in how they set errno, which nothing here looks at. */
TD_OLD(exp, "GLIBC_2.2.5");
TD_OLD(exp2, "GLIBC_2.2.5");
TD_OLD(log, "GLIBC_2.2.5");
TD_OLD(log2, "GLIBC_2.2.5");
TD_OLD(pow, "GLIBC_2.2.5");
TD_OLD(expf, "GLIBC_2.2.5");
TD_OLD(exp2f, "GLIBC_2.2.5");
TD_OLD(logf, "GLIBC_2.2.5");
TD_OLD(log2f, "GLIBC_2.2.5");
TD_OLD(powf, "GLIBC_2.2.5");
TD_OLD(hypot, "GLIBC_2.2.5");

#endif
