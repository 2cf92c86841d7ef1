throw new DOMException("aborted here", "AbortError");
