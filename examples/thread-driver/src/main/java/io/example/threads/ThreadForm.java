package io.example.threads;

import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** A recording as commands, rebuilt whenever a buffer has moved. */
final class ThreadForm implements CommandForm {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private final ThreadDriver driver;
    private final Recording recording;
    private final ResolvedBindings bindings;
    private final @Nullable StreamStorage updates;
    private @Nullable ThreadCommands commands;

    ThreadForm(
            ThreadDriver driver,
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates) {
        this.driver = driver;
        this.recording = recording;
        this.bindings = bindings;
        this.updates = updates;
    }

    @Override
    public DriverCommands prepare(String operation) {
        ThreadCommands made = commands;
        if (made == null || bindings.anyChanged()) {
            made = new ThreadCommands(driver);
            for (int at : recording.commands()) {
                if (recording.isDispatch(at)) {
                    made.add(dispatch(at));
                } else {
                    bindings.transfer(at, updates, made);
                }
            }
            commands = made;
        }
        return made;
    }

    private Runnable dispatch(int at) {
        Kernel kernel = ((KernelExecutable) recording.executable(at)).kernel(recording.export(at));
        int[] constants = new int[recording.constantCount(at)];
        for (int i = 0; i < constants.length; i++) {
            constants[i] = recording.constant(at, i);
        }
        MemorySegment[] segments = new MemorySegment[recording.bindingCount(at)];
        for (int i = 0; i < segments.length; i++) {
            segments[i] = segment(recording.bindings(at) + Recording.RANGE_WORDS * i);
        }
        MemorySegment counts = recording.opcode(at) == Recording.INDIRECT ? segment(recording.counts(at)) : null;
        return () -> run(
                kernel,
                new Kernel.Arguments(
                        counts == null ? recording.workgroupCount(at, 0) : counts.get(INT, 0),
                        counts == null ? recording.workgroupCount(at, 1) : counts.get(INT, 4),
                        counts == null ? recording.workgroupCount(at, 2) : counts.get(INT, 8),
                        constants,
                        segments));
    }

    private MemorySegment segment(int range) {
        return driver.bytes(bindings.storage(range), bindings.offset(range), bindings.length(range));
    }

    private static void run(Kernel kernel, Kernel.Arguments arguments) {
        for (int z = 0; z < arguments.countZ(); z++) {
            for (int y = 0; y < arguments.countY(); y++) {
                for (int x = 0; x < arguments.countX(); x++) {
                    kernel.function().run(x, y, z, arguments);
                }
            }
        }
    }

    @Override
    public void invalidate() {
        commands = null;
    }

    @Override
    public void close() {}
}
