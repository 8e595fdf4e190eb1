package io.github.iree4j.hal.schedule;

import java.util.ArrayList;
import java.util.List;

/** A stream that runs nothing and records everything given: tests report completions. */
class RecordingStream implements FifoBackend {
    final List<String> entries = new ArrayList<>();
    int submissions;

    @Override
    public boolean issue(Issue next) {
        next.waits().forEach(wait -> entries.add("wait for " + wait.epoch()));
        entries.add(next.operation().name());
        return true;
    }

    @Override
    public void submit() {
        submissions++;
    }

    @Override
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        return true;
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return false;
    }
}
