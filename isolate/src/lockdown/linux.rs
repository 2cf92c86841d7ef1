//! Linux: `no_new_privs`, Landlock, seccomp.

use std::collections::BTreeMap;

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::give_up;

pub fn end_with_parent() {
    // SAFETY: two calls with plain numbers. The signal comes when the *thread* that started this
    // process ends; the host starts all from one that lives as long as it does.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The parent may be gone already: then nobody will send the signal.
        if libc::getppid() == 1 {
            libc::_exit(0);
        }
    }
}

pub fn lock_in() {
    // SAFETY: plain numbers. Not dumpable: nobody of the same user can read its memory by /proc.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            give_up("no_new_privs");
        }
    }
    restrict_files_and_network();
    // Landlock needs a descriptor for a moment; the filter then forbids to change limits.
    super::unix::lower_limits();
    apply(&allow_list());
}

/// Landlock, where the kernel has it: no file can be reached by any path, no port connected to.
fn restrict_files_and_network() {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(ABI::V5)))
        .and_then(|ruleset| ruleset.create())
        .and_then(|ruleset| ruleset.restrict_self());
    // A kernel without Landlock is no error with `BestEffort`; the system-call filter stands alone then.
    if let Err(error) = ruleset {
        give_up(&format!("Landlock: {error}"));
    }
}

/// The system calls that running JavaScript needs. All others fail with `EPERM`.
fn allow_list() -> BpfProgram {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let any = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_ppoll,
        libc::SYS_restart_syscall,
        // Memory. What is mapped is anonymous: there is no descriptor to map a file from.
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_mprotect,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_rt_sigreturn,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigaction,
        libc::SYS_sigaltstack,
        libc::SYS_exit,
        libc::SYS_exit_group,
        // For `seal`, which forbids them.
        libc::SYS_setitimer,
        libc::SYS_seccomp,
    ];
    for call in any {
        rules.insert(call, Vec::new());
    }
    let no_new_privs = u64::try_from(libc::PR_SET_NO_NEW_PRIVS).expect("an option is positive");
    rules.insert(libc::SYS_prctl, vec![rule(&[condition(0, SeccompCmpOp::Eq, no_new_privs)])]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_poll, Vec::new());
    let anonymous = u64::try_from(libc::MAP_ANONYMOUS).expect("a flag is positive");
    rules.insert(libc::SYS_mmap, vec![rule(&[condition(3, SeccompCmpOp::MaskedEq(anonymous), anonymous)])]);
    // The process may end itself, as `abort` does.
    // SAFETY: no argument, no failure.
    let own = u64::try_from(unsafe { libc::getpid() }).expect("a process number is positive");
    rules.insert(libc::SYS_tgkill, vec![rule(&[condition(0, SeccompCmpOp::Eq, own)])]);
    compile(rules, SeccompAction::Errno(libc::EPERM.cast_unsigned()), SeccompAction::Allow)
}

/// Nothing of the filter or of the CPU's clock can be changed after this.
pub fn seal() {
    let forbidden = [libc::SYS_setitimer, libc::SYS_seccomp, libc::SYS_prctl];
    let rules = forbidden.into_iter().map(|call| (call, Vec::new())).collect();
    apply(&compile(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.cast_unsigned())));
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .expect("there are six arguments")
}

fn rule(conditions: &[SeccompCondition]) -> SeccompRule {
    SeccompRule::new(conditions.to_vec()).expect("there is a condition")
}

fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    listed: SeccompAction,
) -> BpfProgram {
    let architecture = std::env::consts::ARCH.try_into();
    let filter =
        architecture.and_then(|architecture| SeccompFilter::new(rules, others, listed, architecture));
    match filter.and_then(BpfProgram::try_from) {
        Ok(program) => program,
        Err(error) => give_up(&format!("seccomp: {error}")),
    }
}

fn apply(program: &BpfProgram) {
    if let Err(error) = seccompiler::apply_filter(program) {
        give_up(&format!("seccomp: {error}"));
    }
}
