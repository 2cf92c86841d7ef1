/**
 * `internalBinding('performance')`: the clock of `performance`, and the counters that nobody raises
 * here (garbage collections, HTTP, DNS).
 */

import { late } from "../late.js";
import { primordials, table } from "../primordials.js";

const { Error, Float64Array, Int32Array, Uint32Array } = primordials;

const monotonic = late("core", "monotonic");
const epoch = late("core", "epoch");

const constants = table({
  NODE_PERFORMANCE_GC_MAJOR: 4,
  NODE_PERFORMANCE_GC_MINOR: 1,
  NODE_PERFORMANCE_GC_MINOR_MARK_SWEEP: 2,
  NODE_PERFORMANCE_GC_INCREMENTAL: 8,
  NODE_PERFORMANCE_GC_WEAKCB: 16,
  NODE_PERFORMANCE_GC_FLAGS_NO: 0,
  NODE_PERFORMANCE_GC_FLAGS_CONSTRUCT_RETAINED: 2,
  NODE_PERFORMANCE_GC_FLAGS_FORCED: 4,
  NODE_PERFORMANCE_GC_FLAGS_SYNCHRONOUS_PHANTOM_PROCESSING: 8,
  NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE: 16,
  NODE_PERFORMANCE_GC_FLAGS_ALL_EXTERNAL_MEMORY: 32,
  NODE_PERFORMANCE_GC_FLAGS_SCHEDULE_IDLE: 64,
});

// Those that code does not see.
const HIDDEN = {
  __proto__: null,
  NODE_PERFORMANCE_ENTRY_TYPE_GC: 0,
  NODE_PERFORMANCE_ENTRY_TYPE_HTTP: 1,
  NODE_PERFORMANCE_ENTRY_TYPE_HTTP2: 2,
  NODE_PERFORMANCE_ENTRY_TYPE_NET: 3,
  NODE_PERFORMANCE_ENTRY_TYPE_DNS: 4,
  NODE_PERFORMANCE_ENTRY_TYPE_QUIC: 5,
  NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN_TIMESTAMP: 0,
  NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN: 1,
  NODE_PERFORMANCE_MILESTONE_ENVIRONMENT: 2,
  NODE_PERFORMANCE_MILESTONE_NODE_START: 3,
  NODE_PERFORMANCE_MILESTONE_V8_START: 4,
  NODE_PERFORMANCE_MILESTONE_LOOP_START: 5,
  NODE_PERFORMANCE_MILESTONE_LOOP_EXIT: 6,
  NODE_PERFORMANCE_MILESTONE_BOOTSTRAP_COMPLETE: 7,
};
for (const name in HIDDEN) {
  primordials.ObjectDefineProperty(constants, name, { __proto__: null, enumerable: false, value: HIDDEN[name] });
}

const milestones = new Float64Array(8);
let origin = 0;

/** The time from which `performance.now()` counts is now. */
export function startClock() {
  origin = monotonic();
  primordials.TypedArrayPrototypeFill(milestones, origin * 1e6);
  milestones[HIDDEN.NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN_TIMESTAMP] = epoch() * 1e3;
  milestones[HIDDEN.NODE_PERFORMANCE_MILESTONE_LOOP_EXIT] = -1;
}

function noHistograms() {
  throw new Error("histograms are not available in an isolate");
}

class Histogram {
  constructor() {
    noHistograms();
  }
}

class SlidingWindowHistogram {
  constructor() {
    noHistograms();
  }
}

export const performance = {
  __proto__: null,
  Histogram,
  SlidingWindowHistogram,
  constants,
  createELDHistogram: noHistograms,
  installGarbageCollectionTracking() {},
  loopIdleTime: () => 0,
  markBootstrapComplete() {},
  milestones,
  notify() {},
  now: () => monotonic() - origin,
  observerCounts: new Uint32Array(6),
  removeGarbageCollectionTracking() {},
  setupObservers() {},
  uvMetricsBuffer: new Int32Array(3),
  uvMetricsInfo() {},
};
