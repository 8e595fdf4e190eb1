package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.Known;

/**
 * Determines whether new calls can be served while no work advances. A single program able to serve calls suffices:
 * calls of other programs fail at their deadlines, as on any other instance. Thread-safe.
 *
 * <p>A program can serve calls when an instance is free, not held by any call, and the instance's devices are free: no
 * work is in flight, no call waits for memory, and a worker sleeps. Calls waiting for fences of the application then
 * hold up nobody else.
 */
final class NewCalls {

    private final IreeRuntime runtime;
    private final Programs programs;

    NewCalls(IreeRuntime runtime, Programs programs) {
        this.runtime = runtime;
        this.programs = programs;
    }

    /** Returns whether a program can serve calls. Valid only while nothing has advanced for long, since advancing work counts as stuck work. */
    Known canBeServed() {
        Known found = Known.NO;
        for (LoadedProgram each : programs.all()) {
            for (Program instance : each.instances()) {
                Known known = of(instance, each.source().overlappingCalls());
                if (known == Known.YES) {
                    return known;
                }
                found = known == Known.UNKNOWN ? known : found;
            }
        }
        return found;
    }

    private Known of(Program instance, boolean overlaps) {
        if (instance.isClosed() || instance.monitor().failure() != null || isHeld(instance, overlaps)) {
            return Known.NO;
        }
        boolean free = runtime.monitor().workers().executor().sleepingWorkers() > 0;
        for (Device device : instance.devices()) {
            if (device.failure().isPresent()) {
                return Known.NO;
            }
            // Work in flight may end late or never, and a smaller call may get memory for which others wait.
            free &= !isBusy(device) && device.allocator().poolStatistics().waiting() == 0;
        }
        return free ? Known.YES : Known.UNKNOWN;
    }

    /** Returns whether a call has the turn of the program, and keeps the turn. */
    private static boolean isHeld(Program instance, boolean overlaps) {
        return instance.monitor().pendingCalls(ActiveCall.MOST).stream().anyMatch(call -> switch (call.state()) {
            case RUNNING, IN_LINE -> true;
            case SUSPENDED -> !overlaps;
            case BEFORE_INPUTS, FOR_ADMISSION, FOR_MEMORY, BEFORE_RESULTS -> false;
        });
    }

    private static boolean isBusy(Device device) {
        for (int i = 0; i < device.queueCount(); i++) {
            if (device.queue(i).counters().inFlight() > 0) {
                return true;
            }
        }
        return false;
    }
}
