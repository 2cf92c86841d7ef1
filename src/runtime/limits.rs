//! The numbers of a backend: each has a name that users set it by, a default, and its reason.

use super::config::Fields;
use crate::error::{FsError, Result};

const MIB: usize = 1024 * 1024;

/// What the runs of one backend may use. Every limit is always on.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// `maxTimeoutMs`: the most that a run may ask for.
    pub wall_ms_max: f64,
    /// `defaultTimeoutMs`: from leaving the queue to the end of the code, all waiting included.
    pub wall_ms: f64,
    /// `maxCpuMs`: CPU time of the process.
    pub cpu_ms_max: f64,
    /// `maxMemoryBytes`: V8's heap and all buffers.
    pub memory_bytes_max: usize,
    /// `maxSourceBytes`: the entry module.
    pub source_bytes_max: usize,
    /// `maxInputBytes`: the input as JSON.
    pub input_bytes_max: usize,
    /// `maxStdinBytes`: standard input.
    pub stdin_bytes_max: usize,
    /// `maxEnvBytes`: names and values of the environment.
    pub env_bytes_max: usize,
    /// `maxResultBytes`: the result as JSON.
    pub result_bytes_max: usize,
    /// `maxStdioBytes`: what is kept of standard output and error together.
    pub stdio_bytes_max: usize,
    /// `maxCapabilityBytes`: one call or one answer.
    pub call_bytes_max: usize,
    /// `maxHostCallMs`: from a call to its answer.
    pub call_ms_max: f64,
    /// `maxConcurrentCapabilityCalls`: calls in flight; more wait inside the isolate.
    pub concurrent_calls_max: u32,
    /// `maxCapabilityCalls`: calls of one run.
    pub calls_max: u64,
    /// `maxCapabilityRequestBytes`: of all calls of a run.
    pub request_bytes_max: u64,
    /// `maxCapabilityResponseBytes`: of all answers of a run.
    pub response_bytes_max: u64,
    /// `maxDirectoryEntries`: one listing.
    pub entries_max: u64,
    /// `maxExecutionSubscribers`: who waits for one run's events at one time.
    pub subscribers_max: usize,
    /// `retentionMs`: how long a finished run is kept.
    pub retention_ms: f64,
    /// `maxRetainedExecutions`: how many finished runs are kept.
    pub retained_max: u64,
    /// `maxConcurrentExecutions`: processes with a run.
    pub runs_max: usize,
    /// `maxQueuedExecutions`: runs that wait for one.
    pub queued_max: usize,
    /// `warm`: processes that are kept ready.
    pub warm: usize,
    /// `parkMs`: how long a process waits with its run for a person's answer.
    pub park_ms: f64,
    /// `recoverConcurrency`: interrupted runs that are taken up at one time.
    pub recoveries_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            wall_ms_max: 180_000.0,
            wall_ms: 60_000.0,
            cpu_ms_max: 180_000.0,
            memory_bytes_max: 128 * MIB,
            source_bytes_max: 8 * MIB,
            input_bytes_max: 16 * MIB,
            stdin_bytes_max: 16 * MIB,
            env_bytes_max: MIB,
            result_bytes_max: 16 * MIB,
            stdio_bytes_max: 16 * MIB,
            call_bytes_max: 16 * MIB,
            call_ms_max: 180_000.0,
            concurrent_calls_max: 64,
            calls_max: 100_000,
            request_bytes_max: 256 * MIB as u64,
            response_bytes_max: 256 * MIB as u64,
            entries_max: 100_000,
            subscribers_max: 64,
            retention_ms: 3_600_000.0,
            retained_max: 100,
            runs_max: 24,
            queued_max: 1_000,
            warm: 1,
            park_ms: 30_000.0,
            recoveries_max: 4,
        }
    }
}

/// Least memory of a process: below it V8 does not start.
const MEMORY_BYTES_MIN: usize = 16 * MIB;
/// Least size of a call.
const CALL_BYTES_MIN: usize = 256;
/// Most of any size that a frame has to hold.
const FRAME_PART_BYTES_MAX: usize = 1024 * MIB;

impl Limits {
    /// Reads those that are given.
    pub fn parse(fields: &mut Fields) -> Result<Limits> {
        let mut limits = Limits::default();
        let set = |slot: &mut f64, value: Option<f64>| *slot = value.unwrap_or(*slot);
        set(&mut limits.wall_ms_max, fields.positive("maxTimeoutMs")?);
        limits.wall_ms = limits.wall_ms.min(limits.wall_ms_max);
        limits.cpu_ms_max = limits.wall_ms_max;
        limits.call_ms_max = limits.wall_ms_max;
        set(&mut limits.wall_ms, fields.positive("defaultTimeoutMs")?);
        if limits.wall_ms > limits.wall_ms_max {
            return Err(FsError::invalid(format!(
                "defaultTimeoutMs must be at most {}, which is maxTimeoutMs; received {}",
                limits.wall_ms_max, limits.wall_ms
            )));
        }
        set(&mut limits.cpu_ms_max, fields.positive("maxCpuMs")?);
        set(&mut limits.call_ms_max, fields.positive("maxHostCallMs")?);
        set(&mut limits.retention_ms, fields.positive("retentionMs")?);
        set(&mut limits.park_ms, fields.positive("parkMs")?);

        let size = |slot: &mut usize, value: Option<usize>| *slot = value.unwrap_or(*slot);
        size(&mut limits.memory_bytes_max, fields.size("maxMemoryBytes", MEMORY_BYTES_MIN)?);
        size(&mut limits.source_bytes_max, fields.size("maxSourceBytes", 1)?);
        size(&mut limits.input_bytes_max, fields.size("maxInputBytes", 1)?);
        size(&mut limits.stdin_bytes_max, fields.size("maxStdinBytes", 1)?);
        size(&mut limits.env_bytes_max, fields.size("maxEnvBytes", 1)?);
        size(&mut limits.result_bytes_max, fields.size("maxResultBytes", 1)?);
        size(&mut limits.stdio_bytes_max, fields.size("maxStdioBytes", 1)?);
        size(&mut limits.call_bytes_max, fields.size("maxCapabilityBytes", CALL_BYTES_MIN)?);
        for (name, bytes) in [
            ("maxSourceBytes", limits.source_bytes_max),
            ("maxInputBytes", limits.input_bytes_max),
            ("maxStdinBytes", limits.stdin_bytes_max),
            ("maxResultBytes", limits.result_bytes_max),
            ("maxCapabilityBytes", limits.call_bytes_max),
        ] {
            if bytes > FRAME_PART_BYTES_MAX {
                return Err(FsError::invalid(format!(
                    "{name} must be at most {FRAME_PART_BYTES_MAX}; received {bytes}"
                )));
            }
        }

        let whole = |slot: &mut u64, value: Option<u64>| *slot = value.unwrap_or(*slot);
        whole(&mut limits.calls_max, fields.count("maxCapabilityCalls")?);
        whole(&mut limits.entries_max, fields.count("maxDirectoryEntries")?);
        whole(&mut limits.retained_max, fields.count("maxRetainedExecutions")?);
        let bytes = |value: Option<usize>| value.map(|bytes| bytes as u64);
        whole(&mut limits.request_bytes_max, bytes(fields.size("maxCapabilityRequestBytes", 1)?));
        whole(&mut limits.response_bytes_max, bytes(fields.size("maxCapabilityResponseBytes", 1)?));

        let number = |value: Option<u64>| value.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        if let Some(count) = fields.count("maxConcurrentCapabilityCalls")? {
            limits.concurrent_calls_max = u32::try_from(count).unwrap_or(u32::MAX).min(4096);
        }
        size(&mut limits.subscribers_max, number(fields.count("maxExecutionSubscribers")?));
        size(&mut limits.runs_max, number(fields.count("maxConcurrentExecutions")?));
        size(&mut limits.queued_max, number(fields.amount("maxQueuedExecutions")?));
        size(&mut limits.warm, number(fields.amount("warm")?));
        size(&mut limits.recoveries_max, number(fields.count("recoverConcurrency")?));
        Ok(limits)
    }
}
