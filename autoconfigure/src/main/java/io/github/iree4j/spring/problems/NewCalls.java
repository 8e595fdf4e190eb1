package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.status.Known;

/**
 * Whether new calls can be served while no work advances. It is enough that one program can serve some: the calls of others fail at their
 * deadlines, which is not worse elsewhere. Thread-safe.
 *
 * <p>A program can serve calls when one of its instances is free, which no call holds, and so are its devices: no work is in flight there,
 * no call waits for memory, and a worker sleeps. That calls wait for fences of the application then holds up nobody else.
 */
final class NewCalls {

    private final IreeRuntime runtime;
    private final Programs programs;

    NewCalls(IreeRuntime runtime, Programs programs) {
        this.runtime = runtime;
        this.programs = programs;
    }

    /** Whether a program can serve calls; only while nothing has advanced for long, as work that advances counts as work that does not. */
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
        if (instance.isClosed() || instance.failure() != null || isHeld(instance, overlaps)) {
            return Known.NO;
        }
        boolean free = runtime.executor().sleepingWorkers() > 0;
        for (Device device : instance.devices()) {
            if (device.failure() != null) {
                return Known.NO;
            }
            // Work in flight may end late or never, and a smaller call may get memory that others wait for.
            free &= !isBusy(device) && device.allocator().poolStatistics().waiting() == 0;
        }
        return free ? Known.YES : Known.UNKNOWN;
    }

    /** Whether a call has the turn of the program, and keeps it. */
    private static boolean isHeld(Program instance, boolean overlaps) {
        return instance.pendingCalls(Signallers.MOST).stream().anyMatch(call -> switch (call.state()) {
            case RUNNING, IN_LINE -> true;
            case SUSPENDED -> !overlaps;
            case BEFORE_INPUTS, FOR_MEMORY, BEFORE_RESULTS -> false;
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
