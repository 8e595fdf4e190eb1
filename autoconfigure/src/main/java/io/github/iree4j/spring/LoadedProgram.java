package io.github.iree4j.spring;

import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.monitor.ProgramMonitor;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;

/** A loaded program with its source, on each placement and context. Thread-safe. */
public final class LoadedProgram {

    private final ProgramSource source;
    private final List<Program> instances;
    private final ConcurrentMap<String, CallTimes> times = new ConcurrentHashMap<>(); // by function
    private final AtomicIntegerArray chosen; // calls of each instance, also before the instance counts a call

    /**
     * Creates a loaded program.
     *
     * @param source the source of the program
     * @param instances the program on each placement and context, identical except for state; at least one; borrowed,
     *     the registry closes the instances
     */
    public LoadedProgram(ProgramSource source, List<Program> instances) {
        this.source = source;
        this.instances = List.copyOf(instances);
        this.chosen = new AtomicIntegerArray(instances.size());
    }

    /** The function of the instance chosen for a call, until the call has ended. */
    final class Chosen {
        private final ProgramFunction function;
        private final int instance; // -1: not counted

        private Chosen(ProgramFunction function, int instance) {
            this.function = function;
            this.instance = instance;
        }

        ProgramFunction function() {
            return function;
        }

        /** Records the end of a call when the call ends. */
        void endWith(CompletableFuture<?> call) {
            if (instance >= 0) {
                call.whenComplete((_, _) -> end());
            }
        }

        /** Records that the call has ended. Called once. */
        void end() {
            if (instance >= 0) {
                chosen.getAndDecrement(instance);
            }
        }
    }

    /** Returns the source of the program. */
    public ProgramSource source() {
        return source;
    }

    /** Returns the instances; borrowed, and at least one. */
    public List<Program> instances() {
        return instances;
    }

    /** Returns the first instance, for properties shared by all instances. */
    public Program program() {
        return instances.getFirst();
    }

    /** Returns the number of calls in flight on all instances. */
    public int activeCalls() {
        return instances.stream().mapToInt(each -> each.monitor().activeCalls()).sum();
    }

    /** Returns the times of the calls of a function, of all instances. */
    CallTimes times(ProgramFunction function) {
        return times.computeIfAbsent(function.fullName(), _ -> new CallTimes(System::nanoTime));
    }

    /**
     * Returns the durations of the calls of a function.
     *
     * @param function a function of an instance
     * @return the durations of the calls on all instances
     */
    public CallDurations durations(ProgramFunction function) {
        return times(function).durations();
    }

    /** Returns the cause of failing calls by a file used in place by the program, see {@link ProgramMonitor#failure()}; empty without such a cause. */
    public Optional<IreeException> failure() {
        return instances.stream()
                .flatMap(instance -> Stream.ofNullable(instance.monitor().failure()))
                .findFirst();
    }

    /**
     * Chooses the instance for a call about to be made: the located instance, unless an instance on the same devices,
     * where the inputs may be, has fewer calls. Calls of other threads for which an instance has been chosen count at
     * once, so that no call begins to wait for an instance while another instance is idle.
     *
     * @param located the function of an instance, which may have been located long before
     */
    Chosen choose(ProgramFunction located) {
        Program asked = located.program();
        int first = instances.size() == 1 ? -1 : instances.indexOf(asked);
        if (first < 0 || !located.equals(asked.function(located.fullName()))) {
            return new Chosen(located, -1); // the only instance, or an instance that has been replaced
        }
        while (true) {
            int best = -1;
            int seen = 0;
            int least = Integer.MAX_VALUE;
            for (int i = 0; i < instances.size() && least > 0; i++) {
                int index = (first + i) % instances.size();
                Program instance = instances.get(index);
                int calls = chosen.get(index);
                int load = Math.max(calls, instance.monitor().activeCalls());
                if (load < least && instance.devices().equals(asked.devices())) {
                    best = index;
                    seen = calls;
                    least = load;
                }
            }
            ProgramFunction function =
                    best == first ? located : instances.get(best).function(located.fullName());
            if (chosen.compareAndSet(best, seen, seen + 1)) {
                return new Chosen(function, best);
            }
        }
    }

    void retire(IreeException why) {
        instances.forEach(instance -> instance.retire(why));
    }

    /** Retires the instances; holders of an instance call an instance of the successor from now on. */
    void retire(LoadedProgram successor) {
        for (int i = 0; i < instances.size(); i++) {
            instances.get(i).retire(successor.instances.get(i % successor.instances.size()));
        }
    }
}
