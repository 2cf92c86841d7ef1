//! What all Unix systems have.

/// Descriptors that may be open: nobody has more than some thousands.
const DESCRIPTORS_MAX: i32 = 65_536;

pub fn close_descriptors() {
    // SAFETY: descriptors above standard error are nobody's in this process: it has just begun.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) == 0 {
            return;
        }
        let limit = i32::try_from(libc::sysconf(libc::_SC_OPEN_MAX)).unwrap_or(DESCRIPTORS_MAX);
        for descriptor in 3..limit.min(DESCRIPTORS_MAX) {
            libc::close(descriptor);
        }
    }
}

pub fn lower_limits() {
    set_limit(libc::RLIMIT_CORE, 0);
    set_limit(libc::RLIMIT_FSIZE, 0);
    // The three that are open stay open, and no other can be opened. One, not none: `poll` takes no more
    // descriptors than this, and without it the process could not wait.
    set_limit(libc::RLIMIT_NOFILE, 1);
    set_limit(libc::RLIMIT_NPROC, 0);
}

#[cfg(target_os = "linux")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_os = "linux"))]
type Resource = libc::c_int;

fn set_limit(resource: Resource, value: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: a valid limit, for the length of the call. Lowering one cannot fail.
    unsafe { libc::setrlimit(resource, &raw const limit) };
}

pub fn limit_cpu(ms: u32) {
    let value = libc::timeval {
        tv_sec: libc::time_t::from(ms / 1000),
        tv_usec: libc::suseconds_t::from((ms % 1000) * 1000),
    };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: a valid timer, for the length of the call; the signal's default action ends the process.
    // Called by its number, since the library's name for it does not exist for every C library.
    unsafe {
        libc::signal(libc::SIGPROF, libc::SIG_DFL);
        libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut());
    }
}
