package io.example.threads;

import io.github.iree4j.hal.stream.DriverMemory;
import java.lang.foreign.Arena;

/** Memory of the process: allocated, or somewhere in it. */
final class ThreadMemory extends DriverMemory {
    private final Arena arena;

    private ThreadMemory(Arena arena, long address) {
        super(0, address, address);
        this.arena = arena;
    }

    static ThreadMemory allocate(long size, long alignment) {
        Arena arena = Arena.ofShared();
        try {
            return new ThreadMemory(arena, arena.allocate(size, alignment).address());
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    /** Memory that somebody else frees, later. */
    static ThreadMemory at(long address) {
        return new ThreadMemory(Arena.ofShared(), address);
    }

    @Override
    public void close() {
        arena.close();
    }
}
