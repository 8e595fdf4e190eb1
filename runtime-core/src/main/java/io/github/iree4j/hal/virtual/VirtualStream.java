package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.FifoBackend;
import java.util.Map;
import java.util.TreeMap;

/** Runs one operation after the other; other streams wait for its marks, and it for theirs. */
final class VirtualStream extends VirtualQueue implements FifoBackend {
    /** How many fired events are kept, for waits that come late. */
    private static final int KEPT_EVENTS = 64;

    private final Object directGroup;
    private final TreeMap<Long, VirtualEvent> marks = new TreeMap<>(); // by epoch; guarded by the clock's lock

    VirtualStream(VirtualClock clock, Object directGroup, int index, VirtualScript script) {
        super(clock, index, 1, script);
        this.directGroup = directGroup;
    }

    private record Mark(VirtualEvent event) implements Entry {
        @Override
        public boolean pass(Runnable proceed) {
            event.fire();
            return true;
        }
    }

    private record Wait(VirtualEvent event) implements Entry {
        @Override
        public boolean pass(Runnable proceed) {
            return event.isFiredOrThen(proceed);
        }
    }

    @Override
    public void recordTimepoint(long epoch) {
        synchronized (clock) {
            VirtualEvent event = VirtualEvent.create(clock);
            marks.put(epoch, event);
            add(new Mark(event));
            plan();
            while (marks.size() > KEPT_EVENTS && marks.firstEntry().getValue().isFired()) {
                marks.pollFirstEntry();
            }
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // groups are the same only if they are one
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        synchronized (clock) {
            return producer instanceof VirtualStream other
                    && other.clock == clock
                    && other.directGroup == directGroup
                    && other.marks.ceilingKey(epoch) != null;
        }
    }

    @Override
    public void waitFor(FifoBackend producer, long epoch) {
        synchronized (clock) {
            Map.Entry<Long, VirtualEvent> mark = ((VirtualStream) producer).marks.ceilingEntry(epoch);
            if (mark != null) { // it can only have gone because it has fired
                add(new Wait(mark.getValue()));
            }
        }
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return primitive instanceof VirtualEvent event && event.clock() == clock;
    }

    @Override
    public void waitForExternal(Object primitive) {
        synchronized (clock) {
            add(new Wait((VirtualEvent) primitive));
        }
    }

    @Override
    void stopped() {
        marks.values().forEach(VirtualEvent::fire);
    }
}
