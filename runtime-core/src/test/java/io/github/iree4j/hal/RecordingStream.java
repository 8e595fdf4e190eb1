package io.github.iree4j.hal;

import java.util.ArrayList;
import java.util.List;

/** A stream that runs nothing and notes what is put on it: tests say what has completed. */
class RecordingStream implements FifoBackend {
    final List<String> entries = new ArrayList<>();

    @Override
    public void issue(QueueOperation operation) {
        entries.add(operation.name());
    }

    @Override
    public void recordTimepoint(long epoch) {
        entries.add("mark " + epoch);
    }

    @Override
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        return true;
    }

    @Override
    public void waitFor(FifoBackend producer, long epoch) {
        entries.add("wait for " + epoch);
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return false;
    }

    @Override
    public void waitForExternal(Object primitive) {
        throw new AssertionError();
    }
}
