package io.github.iree4j.hal.vulkan;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The environment of this process as read by native code. */
@SuppressWarnings("restricted")
final class Environment {
    private Environment() {}

    static void set(String name, String value) {
        call(
                "setenv",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
                name,
                value);
    }

    static void unset(String name) {
        call("unsetenv", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS), name, null);
    }

    private static void call(String function, FunctionDescriptor type, String name, String value) {
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            var handle =
                    linker.downcallHandle(linker.defaultLookup().find(function).orElseThrow(), type);
            MemorySegment key = arena.allocateFrom(name);
            int failed = value == null
                    ? (int) handle.invokeExact(key)
                    : (int) handle.invokeExact(key, arena.allocateFrom(value), 1);
            if (failed != 0) {
                throw new IllegalStateException(function + " of " + name + " failed");
            }
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
