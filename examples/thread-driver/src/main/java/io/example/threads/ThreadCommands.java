package io.example.threads;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** A list of commands, run in order: a stronger order than required. */
final class ThreadCommands implements TransferCommands, DriverCommands {
    private final ThreadDriver driver;
    private final List<Runnable> commands = new ArrayList<>();

    ThreadCommands(ThreadDriver driver) {
        this.driver = driver;
    }

    void add(Runnable command) {
        commands.add(command);
    }

    void run() {
        commands.forEach(Runnable::run);
    }

    @Override
    public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {
        MemorySegment bytes = driver.bytes(target, offset, length);
        add(() -> {
            for (long i = 0; i < length; i++) {
                bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (pattern >>> Byte.SIZE * (i % patternLength)));
            }
        });
    }

    @Override
    public void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {
        MemorySegment from = driver.bytes(source, sourceOffset, length);
        MemorySegment to = driver.bytes(target, targetOffset, length);
        add(() -> to.copyFrom(from));
    }

    @Override
    public DriverCommands finish(String operation) {
        return this;
    }

    @Override
    public void release() {}
}
