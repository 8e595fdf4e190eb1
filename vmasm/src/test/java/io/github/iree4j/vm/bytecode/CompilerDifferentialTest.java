package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmWait;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random programs behave the same compiled as interpreted: results, failures to the last character, the views of
 * imports, the numbers of their deferrals, globals, and objects left alive.
 *
 * <p>{@code -Diree4j.test.rounds=N} and {@code -Diree4j.test.seed=S} choose the number and the programs. Programs share
 * nothing, so each processor runs a share of the programs.
 */
@Tag("long")
class CompilerDifferentialTest {
    private static final int QUICK = 2_000;
    private static final int LONG = 100_000;
    private static final int FUEL = 60;
    private static final int CALLS = 3;
    private static final int MAX_DEPTH = 4;

    private static final ScheduledExecutorService WATCHDOG = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("differential-watchdog").factory());

    /** The observable behavior of a program. */
    private record Outcome(List<String> events, boolean stopped, int compiled) {}

    @AfterAll
    static void stop() {
        WATCHDOG.shutdownNow();
    }

    @Test
    void randomProgramsBehaveTheSameCompiledAsInterpreted() throws Exception {
        int programs = Effort.rounds(Effort.isBrief() ? QUICK / 8 : QUICK, LONG);
        long seed = Effort.seed(CompilerDifferentialTest.class, programs + " programs", 20261120);
        int threads = Math.min(programs, Runtime.getRuntime().availableProcessors());
        List<Callable<Tally>> shares = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int first = t;
            shares.add(() -> {
                Tally tally = new Tally();
                for (int i = first; i < programs; i += threads) {
                    compare(seed + i, tally);
                }
                return tally;
            });
        }
        Tally all = new Tally();
        try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
            for (Future<Tally> share : workers.invokeAll(shares)) {
                all.add(share.get());
            }
        }
        System.out.printf(
                "%d functions compiled, %d calls returned, %d failed, %d programs stopped%n",
                all.compiled, all.finished, all.failed, all.stopped);
        assertThat(all.compiled).isEqualTo(programs * (RandomProgram.FUNCTIONS + 3));
        if (programs >= 1000) {
            assertThat(all.finished).isGreaterThan(programs / 2);
            assertThat(all.failed).isGreaterThan(programs / 2);
            assertThat(all.stopped).isLessThan(programs / 100);
        }
    }

    /** The outcomes of several programs. */
    private static final class Tally {
        int finished;
        int failed;
        int compiled;
        int stopped;

        void add(Tally other) {
            finished += other.finished;
            failed += other.failed;
            compiled += other.compiled;
            stopped += other.stopped;
        }
    }

    private static void compare(long seed, Tally tally) {
        RandomProgram program = new RandomProgram(seed);
        byte[] file = program.toFile();
        Outcome interpreted = run(program, file, Compilation.OFF, seed);
        Outcome other = run(program, file, Compilation.EAGER, seed);
        tally.compiled += other.compiled;
        // Parts yield several times as much code.
        Outcome inParts = seed % 16 == 0 ? runInParts(program, file, seed) : other;
        if (interpreted.stopped || other.stopped || inParts.stopped) {
            tally.stopped++;
            return;
        }
        for (Outcome outcome : List.of(other, inParts)) {
            assertThat(outcome.events)
                    .as(
                            "program of -Diree4j.test.seed=%d -Diree4j.test.rounds=1, compiled %s",
                            seed, outcome == other ? "whole" : "in parts")
                    .isEqualTo(interpreted.events);
        }
        for (String event : interpreted.events) {
            tally.finished += event.startsWith("returns") ? 1 : 0;
            tally.failed += event.startsWith("fails") ? 1 : 0;
        }
    }

    /** Tracks the depth of calls, for programs with an end of all calls. */
    private static final class Depths implements CallTracer {
        private int open;
        private int calls;
        private int deferrals;

        @Override
        public void entered(int depth, String function, List<?> arguments) {
            assertThat(depth).as(function).isEqualTo(++open);
            calls++;
        }

        @Override
        public void returned(int depth, String function, List<?> results) {
            assertThat(depth).as(function).isEqualTo(open--);
        }

        @Override
        public void deferred(int depth, String function) {
            assertThat(depth).as(function).isEqualTo(open);
            deferrals++;
        }

        @Override
        public void resumed(int depth, String function) {
            assertThat(depth).as(function).isEqualTo(open);
            deferrals--;
        }

        @Override
        public void failed(int depth, String function, IreeException failure) {
            assertThat(depth).as(function).isEqualTo(open--);
        }
    }

    @Test
    void randomProgramsBehaveTheSameTracedAndEveryBegunCallEnds() {
        int programs = Effort.rounds(500, 5_000);
        long seed = Effort.seed(CompilerDifferentialTest.class, programs + " traced programs", 20261120);
        int calls = 0;
        for (int i = 0; i < programs; i++) {
            RandomProgram program = new RandomProgram(seed + i);
            byte[] file = program.toFile();
            Depths depths = new Depths();
            Outcome plain = run(program, file, Compilation.OFF, seed + i);
            Outcome traced = run(
                    program,
                    BytecodeModule.readTraced(
                            MemorySegment.ofArray(file), "random", Programs.TYPES, ModuleLimits.DEFAULTS, null, depths),
                    seed + i);
            if (plain.stopped || traced.stopped) {
                continue;
            }
            assertThat(traced.events)
                    .as("program of -Diree4j.test.seed=%d -Diree4j.test.rounds=1", seed + i)
                    .isEqualTo(plain.events);
            assertThat(depths.open).as("calls open, seed %d", seed + i).isZero();
            assertThat(depths.deferrals).as("calls waiting, seed %d", seed + i).isZero();
            calls += depths.calls;
        }
        assertThat(calls).isGreaterThan(10 * programs);
    }

    /** Compiles functions as if too large for a single method, into as many parts as possible. */
    private static Outcome runInParts(RandomProgram program, byte[] file, long seed) {
        BytecodeModule module = BytecodeModule.read(
                MemorySegment.ofArray(file), "random", Programs.TYPES, ModuleLimits.DEFAULTS, null, Compilation.OFF);
        int nodes = 1 + (int) Long.remainderUnsigned(seed / 16, 30);
        ChangedFunctions.compile(module, List.of(module.functions()), nodes);
        return run(program, module, seed);
    }

    private static Outcome run(RandomProgram program, byte[] file, Compilation mode, long seed) {
        return run(
                program,
                BytecodeModule.read(
                        MemorySegment.ofArray(file), "random", Programs.TYPES, ModuleLimits.DEFAULTS, null, mode),
                seed);
    }

    private static Outcome run(RandomProgram program, BytecodeModule module, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<String> events = new ArrayList<>();
        AtomicInteger live = new AtomicInteger();
        boolean stopped = false;
        int compiled = module.compilation().compiled();
        try (Context context =
                Context.create(List.of(host(events, live), module), ContextOptions.DEFAULTS.maxMemory(1 << 16))) {
            for (int i = 0; i < CALLS; i++) {
                try (Invocation poke = invocation(context, "m.poke")) {
                    poke.i32(RandomProgram.FUEL_OFFSET).i32(FUEL).run();
                }
                try (Invocation call = invocation(context, "m.f0")) {
                    stopped |= call(call, program.signatures().getFirst(), random, events, live);
                }
            }
            globals(context, events);
        }
        module.close();
        events.add("live " + live);
        return new Outcome(events, stopped, compiled);
    }

    private static Invocation invocation(Context context, String name) {
        return context.invocation(Objects.requireNonNull(context.function(name)));
    }

    private static boolean call(
            Invocation call, String signature, SplittableRandom random, List<String> events, AtomicInteger live) {
        String[] parts = signature.substring(1).split("_");
        List<RefCounted> owned = new ArrayList<>();
        ScheduledFuture<?> stop = WATCHDOG.schedule(call::cancel, 10, TimeUnit.SECONDS);
        try {
            arguments(call, parts[0], random, owned, live);
            int deferrals = 0;
            for (boolean done = call.start(); !done; done = call.resume()) {
                deferrals++;
            }
            StringBuilder text = new StringBuilder("returns after " + deferrals + " deferrals:");
            for (char letter : parts[1].equals("v") ? new char[0] : parts[1].toCharArray()) {
                text.append(' ')
                        .append(
                                switch (letter) {
                                    case 'i' -> call.i32();
                                    case 'I' -> call.i64();
                                    case 'f' -> Integer.toHexString(Float.floatToRawIntBits(call.f32()));
                                    case 'F' -> Long.toHexString(Double.doubleToRawLongBits(call.f64()));
                                    default -> describe(call.ref(Object.class), 0);
                                });
            }
            events.add(text.toString());
        } catch (IreeException e) {
            events.add("fails " + e.code() + " " + e.getMessage());
            return e.code() == StatusCode.CANCELLED && e.getMessage().contains("was cancelled");
        } finally {
            stop.cancel(false);
            owned.forEach(RefCounted::release);
        }
        return false;
    }

    private static void arguments(
            Invocation call, String letters, SplittableRandom random, List<RefCounted> owned, AtomicInteger live) {
        for (char letter : letters.equals("v") ? new char[0] : letters.toCharArray()) {
            int value = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(-2, 9);
            switch (letter) {
                case 'i' -> call.i32(value);
                case 'I' -> call.i64(random.nextInt(4) == 0 ? random.nextLong() : value);
                case 'f' -> call.f32(value / 4f);
                case 'F' -> call.f64(value / 4.0);
                default -> {
                    Object object = switch (random.nextInt(4)) {
                        case 0 -> null;
                        case 1 -> VmBuffer.wrap(MemorySegment.ofArray(new byte[32]), true, null);
                        case 2 -> new Counted(live);
                        default -> VmList.ofVariants(4);
                    };
                    if (object instanceof Counted || object instanceof VmList) {
                        owned.add((RefCounted) object);
                    }
                    call.ref(object);
                }
            }
        }
    }

    private static void globals(Context context, List<String> events) {
        StringBuilder text = new StringBuilder("globals");
        try (Invocation peek = invocation(context, "m.peek");
                Invocation ref = invocation(context, "m.peek_ref")) {
            for (int i = 0; i < RandomProgram.GLOBAL_BYTES; i += Integer.BYTES) {
                peek.i32(i).run();
                text.append(' ').append(Integer.toHexString(peek.i32()));
            }
            for (int i = 0; i < RandomProgram.GLOBAL_REFS; i++) {
                ref.i32(i).run();
                text.append(' ').append(describe(ref.ref(Object.class), 0));
            }
        }
        events.add(text.toString());
    }

    private static String describe(@Nullable Object object, int depth) {
        return switch (object) {
            case null -> "null";
            case VmBuffer buffer ->
                buffer + ":"
                        + HexFormat.of()
                                .formatHex(buffer.segment()
                                        .asSlice(0, Math.min(64, buffer.length()))
                                        .toArray(ValueLayout.JAVA_BYTE));
            case VmList list -> {
                StringBuilder text = new StringBuilder("list of " + list.elementType() + "[" + list.size());
                for (int i = 0; i < Math.min(list.size(), 10) && depth < MAX_DEPTH; i++) {
                    text.append(' ').append(describe(list.get(i), depth + 1));
                }
                yield text.append(']').toString();
            }
            case Counted counted -> "counted " + counted.isLive();
            default -> object.toString();
        };
    }

    private static final class Progress {
        private int left;
    }

    private static NativeModule host(List<String> events, AtomicInteger live) {
        return NativeModule.builder("host", 0, () -> "")
                .function("add", "0ii_i", (s, c) -> c.returnI32(c.i32() + c.i32()))
                .function("mixed", "0iIfFr_FfIir", (s, c) -> {
                    int i = c.i32();
                    long l = c.i64();
                    float f = c.f32();
                    double d = c.f64();
                    Object r = c.ref(Object.class);
                    events.add("mixed " + i + " " + l + " " + describe(r, 0));
                    c.returnF64(Double.isNaN(d) ? 0 : d + 1);
                    c.returnF32(Float.isNaN(f) ? 0 : f + 1);
                    c.returnI64(l + l);
                    c.returnI32(i + i);
                    c.returnRef(References.retained(r));
                })
                .function("sum", "0CiDI_I", (s, c) -> {
                    long sum = 0;
                    for (int n = c.spanCount(); n > 0; n--) {
                        sum += c.i32();
                    }
                    c.returnI64(sum + c.i64());
                })
                .function("yield_n", "0ii_i", (s, c) -> yieldN(c))
                .function("fail", "0i_v", (s, c) -> {
                    throw IreeException.of(StatusCode.of(1 + (c.i32() & 7)), "on purpose");
                })
                .function("counted", "0v_r", (s, c) -> c.returnRef(new Counted(live)))
                .function("keep", "0r_r", (s, c) -> {
                    Object r = c.ref(Object.class);
                    events.add("keep " + describe(r, 0) + " of " + live);
                    c.returnRef(References.retained(r));
                })
                .build();
    }

    private static void yieldN(VmCall call) {
        int value = call.i32();
        int times = call.i32();
        Progress progress = (Progress) call.attachment();
        if (!call.resumed() || progress == null) {
            progress = new Progress();
            progress.left = times;
            call.attach(progress);
        }
        if (progress.left-- > 0) {
            call.defer(VmWait.NONE);
        } else {
            call.returnI32(value + times);
        }
    }
}
