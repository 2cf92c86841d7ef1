//! How a run ended, in the words that users see: status, exit code, reason, and a sentence on standard
//! error.
//!
//! | Reason | Status | Exit code |
//! | --- | --- | --- |
//! | none | completed | 0, or `process.exitCode` |
//! | `error` | failed | 1, or what the code says |
//! | `timeout`, `cpu` | failed | 124 |
//! | `memory` | failed | 137 |
//! | `killed`, `interrupted` | cancelled | 130 |
//! | `not-started`, `crashed`, `limit` | failed | 1 |

use std::process::ExitStatus;

use carrel_wire::{Done, Ending, PRINTED_BYTES_MAX};

use super::child::{describe, signal_of};
use super::config::Config;
use super::driver::Outcome;
use super::json::is_json;
use super::run::Stop;
use crate::store::RunStatus;

/// Exit code of an isolate that passed its memory limit, and of runs that did.
const MEMORY_EXIT_CODE: i32 = 137;
/// Exit code of runs that took too long.
const TIME_EXIT_CODE: i32 = 124;
/// Exit code of runs that were stopped.
const STOPPED_EXIT_CODE: i32 = 130;
/// Sent by the kernel to a process whose CPU time is used up: by the timer that the isolate sets, and
/// by the limit behind it. The numbers are those of every Unix.
const CPU_SIGNALS: [i32; 2] = [27, 24];

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Not `Running`.
    pub status: RunStatus,
    /// As a process has it.
    pub exit_code: i32,
    /// Why it did not complete.
    pub reason: Option<&'static str>,
    /// The result as JSON.
    pub value: Option<String>,
    /// What standard error gets.
    pub stderr: Option<String>,
}

impl Verdict {
    /// A failure with a sentence of ours.
    pub fn failed(exit_code: i32, reason: &'static str, sentence: String) -> Verdict {
        Verdict {
            status: RunStatus::Failed,
            exit_code,
            reason: Some(reason),
            value: None,
            stderr: Some(sentence + "\n"),
        }
    }

    /// What an outcome means. `was_running` tells whether the code had begun.
    pub fn of(
        outcome: Outcome,
        exit: Option<ExitStatus>,
        stop: Option<Stop>,
        wall_ms_max: f64,
        was_running: bool,
        config: &Config,
    ) -> Verdict {
        let limits = &config.limits;
        match outcome {
            Outcome::Done(done) => Self::of_done(done, config),
            Outcome::NotLoaded(_) => {
                Self::failed(1, "not-started", "The code could not be loaded.".to_owned())
            }
            Outcome::Stopped => {
                let (reason, sentence) = match stop {
                    Some(Stop::Closed) => ("interrupted", "Run was cancelled: the workspace was closed.\n"),
                    _ => ("killed", "Run was cancelled.\n"),
                };
                Verdict {
                    status: RunStatus::Cancelled,
                    exit_code: STOPPED_EXIT_CODE,
                    reason: Some(reason),
                    value: None,
                    stderr: Some(sentence.to_owned()),
                }
            }
            Outcome::TimedOut => Self::failed(
                TIME_EXIT_CODE,
                "timeout",
                format!("Run was stopped: it took longer than timeoutMs ({wall_ms_max} ms)."),
            ),
            Outcome::Died => match exit {
                Some(exit) if signal_of(exit).is_some_and(|signal| CPU_SIGNALS.contains(&signal)) => {
                    Self::failed(
                        TIME_EXIT_CODE,
                        "cpu",
                        format!(
                            "Run was stopped: it used more CPU time than maxCpuMs ({} ms).",
                            limits.cpu_ms_max
                        ),
                    )
                }
                Some(exit) if exit.code() == Some(MEMORY_EXIT_CODE) => Self::out_of_memory(config),
                exit => {
                    let reason = if was_running { "crashed" } else { "not-started" };
                    let sentence = format!(
                        "Run has failed: its isolate process ended unexpectedly ({}).",
                        describe(exit)
                    );
                    Self::failed(1, reason, sentence)
                }
            },
            Outcome::Lied(what) => Self::failed(
                1,
                "crashed",
                format!("Run was stopped: its isolate process sent what no isolate sends ({what})."),
            ),
        }
    }

    fn out_of_memory(config: &Config) -> Verdict {
        Self::failed(
            MEMORY_EXIT_CODE,
            "memory",
            format!(
                "Run was stopped: it used more memory than maxMemoryBytes ({} bytes).",
                config.limits.memory_bytes_max
            ),
        )
    }

    fn too_long(config: &Config) -> Verdict {
        let most = config.limits.result_bytes_max;
        let sentence = format!(
            "Run has failed: its result has more than {most} bytes as JSON, which maxResultBytes allows."
        );
        Self::failed(1, "limit", sentence)
    }

    fn of_done(done: Done, config: &Config) -> Verdict {
        let text = printed(done.text.as_str());
        match done.ending {
            Ending::TooLong => Self::too_long(config),
            Ending::Completed if done.text.len() > config.limits.result_bytes_max => Self::too_long(config),
            Ending::Completed if !is_json(&done.text) => Self::failed(
                1,
                "crashed",
                "Run was stopped: its isolate process sent what no isolate sends (its result is not JSON)."
                    .to_owned(),
            ),
            Ending::Completed => Verdict {
                status: RunStatus::Completed,
                exit_code: done.exit_code.unwrap_or(0),
                reason: None,
                value: Some(done.text),
                stderr: None,
            },
            Ending::Exited if done.exit_code.unwrap_or(0) == 0 => Verdict {
                status: RunStatus::Completed,
                exit_code: 0,
                reason: None,
                value: Some("null".to_owned()),
                stderr: text,
            },
            Ending::Exited | Ending::Failed => Verdict {
                status: RunStatus::Failed,
                exit_code: done.exit_code.filter(|code| *code != 0).unwrap_or(1),
                reason: Some("error"),
                value: None,
                stderr: text,
            },
            Ending::OutOfMemory => {
                let verdict = Self::out_of_memory(config);
                Verdict { stderr: text.or(verdict.stderr), ..verdict }
            }
        }
    }
}

/// A text for standard error, with a line end, cut where it is far too long.
fn printed(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let end =
        (0..=text.len().min(PRINTED_BYTES_MAX)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = &text[..end];
    Some(if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(outcome: Outcome, exit: Option<i32>, want: (RunStatus, i32, Option<&str>)) {
        #[cfg(unix)]
        let exit = exit.map(std::os::unix::process::ExitStatusExt::from_raw);
        let config = Config::parse(r#"{"maxResultBytes":4}"#).unwrap();
        let verdict = Verdict::of(outcome, exit, Some(Stop::Killed), 1.0, true, &config);
        assert_eq!((verdict.status, verdict.exit_code, verdict.reason), want);
        assert_eq!(verdict.value.is_some(), want.0 == RunStatus::Completed);
    }

    fn done(ending: Ending, exit_code: Option<i32>, text: &str) -> Outcome {
        Outcome::Done(Done { ending, exit_code, text: text.to_owned() })
    }

    #[test]
    fn status_code_and_reason_tell_ends_apart() {
        use RunStatus::{Cancelled, Completed, Failed};
        check(done(Ending::Completed, None, "null"), None, (Completed, 0, None));
        check(done(Ending::Completed, Some(3), "null"), None, (Completed, 3, None));
        check(done(Ending::Completed, None, "nul"), None, (Failed, 1, Some("crashed")));
        check(done(Ending::Completed, None, "12345"), None, (Failed, 1, Some("limit")));
        check(done(Ending::TooLong, None, ""), None, (Failed, 1, Some("limit")));
        check(done(Ending::Failed, None, "Error"), None, (Failed, 1, Some("error")));
        check(done(Ending::Failed, Some(0), "Error"), None, (Failed, 1, Some("error")));
        check(done(Ending::Failed, Some(7), "Error"), None, (Failed, 7, Some("error")));
        check(done(Ending::Exited, Some(0), ""), None, (Completed, 0, None));
        check(done(Ending::Exited, Some(5), ""), None, (Failed, 5, Some("error")));
        check(done(Ending::OutOfMemory, None, ""), None, (Failed, 137, Some("memory")));
        check(Outcome::Stopped, None, (Cancelled, 130, Some("killed")));
        check(Outcome::TimedOut, None, (Failed, 124, Some("timeout")));
        check(Outcome::Died, Some(137 << 8), (Failed, 137, Some("memory")));
        check(Outcome::Died, Some(27), (Failed, 124, Some("cpu")));
        check(Outcome::Died, Some(24), (Failed, 124, Some("cpu")));
        check(Outcome::Died, Some(11), (Failed, 1, Some("crashed")));
        check(Outcome::Died, None, (Failed, 1, Some("crashed")));
        check(Outcome::Lied("x".to_owned()), None, (Failed, 1, Some("crashed")));
    }

    #[test]
    fn an_error_is_printed_as_lines() {
        assert_eq!(printed("Error: x").as_deref(), Some("Error: x\n"));
        assert_eq!(printed("Error: x\n").as_deref(), Some("Error: x\n"));
        assert_eq!(printed(""), None);
        assert_eq!(
            printed(&"é".repeat(PRINTED_BYTES_MAX)).map(|text| text.len()),
            Some(PRINTED_BYTES_MAX + 1)
        );
    }
}
