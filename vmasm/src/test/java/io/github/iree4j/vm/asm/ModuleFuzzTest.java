package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmImport;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.isa.Isa;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Damaged module files are rejected with a status, or are loaded and their exports run or fail with a status: nothing
 * else is thrown, no file takes longer than a second or more than 64 MB.
 *
 * <p>Seeds are small compiled modules of {@code fixtures/} and the conformance suites. Modules are linked with Java
 * modules that have every imported function without work, so no kernel runs. {@code -Diree4j.fuzz.files=N} and {@code
 * -Diree4j.fuzz.seed=S} choose the number and the files; the nightly run takes 100,000.
 */
@Tag("long")
class ModuleFuzzTest {

    private static final List<String> COMPILED = List.of(
            "3.11.0/cpu/add.vmfb",
            "3.11.0/cpu/scale2.vmfb",
            "3.13.0/cpu-arm_64/add.vmfb",
            "3.13.0/cpu-debug/add.vmfb",
            "3.13.0/cpu/host_while.vmfb",
            "3.13.0/cpu-async/host_for.vmfb",
            "3.13.0/inline-static/add.vmfb",
            "3.13.0/vmvx/simple_mul.vmfb",
            "20231004.665/vulkan-async/filters.vmfb",
            "20240226.813/cpu/pipeline.vmfb");
    private static final int QUICK = 4_000;
    private static final int LONG = 100_000;

    /** CPU time of this thread, since test machines also run other work. */
    private static final long MAX_CPU_NANOS = TimeUnit.SECONDS.toNanos(Effort.isBrief() ? 10 : 1);
    /** Wall-clock time, for hangs without CPU use. */
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(100);

    private static final long MAX_BYTES = 64L << 20;
    private static final String PUNCTUATION = "%@^:,()[]{}<>\"\\-=.0x9eR \n";
    /** After this a running program is cancelled: looping is not a fault. */
    private static final long PATIENCE_MILLIS = 20;

    private static final ContextOptions OPTIONS =
            ContextOptions.DEFAULTS.maxCallDepth(256).maxStackWords(1 << 16).maxMemory(1 << 20);
    private static final ModuleLimits LIMITS = ModuleLimits.DEFAULTS;

    /** Stands for every reference type of other modules. */
    static final class Anything extends Resource {
        @Override
        protected void destroy() {}
    }

    private static final List<String> HAL_TYPES = List.of(
            "hal.allocator",
            "hal.buffer",
            "hal.buffer_view",
            "hal.channel",
            "hal.command_buffer",
            "hal.descriptor_set_layout",
            "hal.device",
            "hal.event",
            "hal.executable",
            "hal.fence",
            "hal.file",
            "hal.pipeline_layout",
            "hal.semaphore",
            "support.tracked");

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("fuzz-watchdog").factory());

    /** The call stopped by the watchdog; written by the test, read by the watchdog. */
    private volatile @Nullable Invocation running;

    /** Whether the watchdog had to stop the last program. */
    private volatile boolean stopped;

    private int answers;

    /** A file being tried. */
    private record Attempt(long seed, int index, byte[] file, long since) {}

    /** The file for the watchdog to report on a hang. */
    private volatile @Nullable Attempt current;

    /** Bytes allocated by reading the last file. */
    private long loadedBytes;

    private final Map<String, Integer> outcomes = new HashMap<>();

    @AfterEach
    void stopWatchdog() {
        watchdog.shutdownNow();
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void damagedFilesAreRejectedOrRun() throws Exception {
        int count = Integer.getInteger("iree4j.fuzz.files", Effort.rounds(QUICK, LONG));
        long seed = Long.getLong("iree4j.fuzz.seed", 20260821L);
        List<ModuleMutator.Seed> seeds = seeds();
        ModuleMutator mutator = new ModuleMutator(seeds, seed);
        // Load classes and compile code before anything is measured.
        for (ModuleMutator.Seed intact : seeds) {
            tryOut(intact.file());
        }
        outcomes.clear();
        for (int i = 0; i < count; i++) {
            byte[] file = mutator.next();
            current = new Attempt(seed, i, file, System.nanoTime());
            long nanos = System.nanoTime();
            long cpuNanos = threads.getCurrentThreadCpuTime();
            answers = 0;
            long bytes = threads.getCurrentThreadAllocatedBytes();
            try {
                tryOut(file);
            } catch (Throwable e) {
                throw new AssertionError(describe(seed, i, file), e);
            }
            nanos = System.nanoTime() - nanos;
            cpuNanos = threads.getCurrentThreadCpuTime() - cpuNanos;
            bytes = threads.getCurrentThreadAllocatedBytes() - bytes;
            // A loop of allocations and drops until stopped holds little; maxMemory allows as much.
            boolean tooMuch = loadedBytes >= MAX_BYTES || (bytes >= MAX_BYTES && !stopped);
            if (cpuNanos >= MAX_CPU_NANOS || nanos >= MAX_NANOS || tooMuch) {
                fail(
                        "%d ns, %d of these on the processor, and %d bytes for %s",
                        nanos, cpuNanos, bytes, describe(seed, i, file));
            }
        }
        System.out.println("fuzz: %d files, seed %d: %s".formatted(count, seed, outcomes));
        assertThat(outcomes.getOrDefault("loaded", 0))
                .as("files past the verifier")
                .isGreaterThan(count / 20);
        assertThat(outcomes.getOrDefault("rejected", 0))
                .as("files that did not")
                .isGreaterThan(count / 5);
    }

    /** Reports a program that ignores cancellation, since the blocked test cannot. */
    private void reportIfStuck() {
        Attempt attempt = current;
        if (attempt != null && System.nanoTime() - attempt.since() > MAX_NANOS) {
            current = null;
            try {
                System.err.println("fuzz: hangs: " + describe(attempt.seed(), attempt.index(), attempt.file()));
            } catch (IOException e) {
                System.err.println("fuzz: file " + attempt.index() + " of seed " + attempt.seed() + " hangs");
            }
        }
    }

    static String describe(long seed, int index, byte[] file) throws IOException {
        Path saved = Files.createTempFile("fuzz-", ".vmfb");
        Files.write(saved, file);
        return "file %d of seed %d, saved as '%s' (%s...)"
                .formatted(index, seed, saved, HexFormat.of().formatHex(file, 0, Math.min(16, file.length)));
    }

    static List<ModuleMutator.Seed> seeds() throws Exception {
        List<ModuleMutator.Seed> seeds = new ArrayList<>();
        Path suites = Path.of(Objects.requireNonNull(ModuleFuzzTest.class.getResource("/vmasm"))
                .toURI());
        try (Stream<Path> files = Files.list(suites)) {
            for (Path file : files.sorted().toList()) {
                // Each suite in one version of the bytecode, for the versions to share the seeds.
                Isa isa = Isa.all().get(seeds.size() % Isa.all().size());
                String text = ConformanceSuite.inVersion(Files.readString(file), isa);
                seeds.add(ModuleMutator.Seed.of(file.toString(), VmAssembler.assemble(text)));
            }
        }
        for (String each : COMPILED) {
            addFixture(seeds, Fixtures.file(each));
        }
        return seeds;
    }

    private static void addFixture(List<ModuleMutator.Seed> seeds, Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        ModuleMutator.Seed seed = ModuleMutator.Seed.of(file.toString(), bytes);
        // Compiled modules look like files in practice: as many as of suites.
        for (int i = 0; i < 4; i++) {
            seeds.add(seed);
        }
    }

    private void tryOut(byte[] file) {
        stopped = false;
        print(file);
        BytecodeModule module;
        long before = threads.getCurrentThreadAllocatedBytes();
        try {
            module = BytecodeModule.read(MemorySegment.ofArray(file), "fuzzed", types(), LIMITS, null);
        } catch (IreeException e) {
            count("rejected");
            return;
        } finally {
            loadedBytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        count("loaded");
        Thread self = Thread.currentThread();
        Future<?> stop = watchdog.scheduleAtFixedRate(
                () -> {
                    stopped = true;
                    reportIfStuck();
                    Invocation invocation = running;
                    if (invocation != null) {
                        invocation.cancel();
                    } else {
                        self.interrupt();
                    }
                },
                PATIENCE_MILLIS,
                PATIENCE_MILLIS,
                TimeUnit.MILLISECONDS);
        try (module) {
            reassemble(module.definition());
            shapes(module);
            run(module);
        } finally {
            stop.cancel(false);
            Thread.interrupted();
        }
    }

    /** Files are printed without being verified. */
    private static void print(byte[] file) {
        try {
            VmDisassembler.disassemble(ModuleDef.read(MemorySegment.ofArray(file), LIMITS));
        } catch (IreeException e) {
            // Refused, as permitted.
        }
    }

    /**
     * A loaded module can be printed and assembled again. Names of the debug database, absent from the text, would
     * differ.
     */
    private static void reassemble(ModuleDef module) {
        if (module.debug() == null) {
            String text = VmDisassembler.disassemble(module);
            ModuleDef again = ModuleDef.read(MemorySegment.ofArray(VmAssembler.assemble(text)), LIMITS);
            assertThat(withoutPlaces(VmDisassembler.disassemble(again))).isEqualTo(withoutPlaces(text));
        }
    }

    /** Shapes are recovered from any loaded module. */
    private static void shapes(BytecodeModule module) {
        BitSet all = new BitSet();
        module.exports().forEach(function -> all.set(function.ordinal()));
        assertThat(module.provenShapes(all, Set.of("hal.buffer_view", "hal_inline.buffer_view")))
                .hasSize(all.cardinality());
    }

    /** The offsets of constants outside of the tables, and so the minimum alignment, differ from file to file. */
    private static String withoutPlaces(String text) {
        return text.replaceAll("align \\d+ external", "external");
    }

    @Test
    void damagedTextIsAssembledOrRefusedWithItsPlace() throws Exception {
        long seed = Long.getLong("iree4j.fuzz.seed", 20260821L);
        SplittableRandom random = new SplittableRandom(seed);
        List<String> texts = new ArrayList<>();
        for (ModuleMutator.Seed module : seeds()) {
            texts.add(VmDisassembler.disassemble(module.module()));
        }
        int rounds = Effort.rounds(QUICK);
        for (int i = 0; i < rounds; i++) {
            String whole = texts.get(random.nextInt(texts.size()));
            // The declarations and a function, for the damage to be reached.
            String[] functions = whole.split("\n(?=vm\\.func)");
            String function = functions[1 + random.nextInt(functions.length - 1)];
            StringBuilder text = new StringBuilder(functions[0].replaceAll("(?m)^vm.export.*$", ""))
                    .append('\n')
                    .append(function, 0, function.indexOf("\n}") + 2);
            for (int j = 1 + random.nextInt(4); j > 0; j--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(3)) {
                    case 0 -> text.deleteCharAt(at);
                    case 1 -> text.insert(at, PUNCTUATION.charAt(random.nextInt(PUNCTUATION.length())));
                    default -> text.setCharAt(at, (char) random.nextInt(1, 0x250));
                }
            }
            try {
                VmAssembler.assemble(text.toString());
                count("assembled");
            } catch (IreeException e) {
                count("refused");
                assertThat(e.getMessage()).contains("line ");
            } catch (RuntimeException e) {
                throw new AssertionError("text %d of seed %d:%n%s".formatted(i, seed, text), e);
            }
        }
        assertThat(outcomes.get("assembled")).isGreaterThan(rounds / 50);
        assertThat(outcomes.get("refused")).isGreaterThan(rounds / 50);
    }

    private void run(BytecodeModule module) {
        List<VmModule> modules = new ArrayList<>(imported(module));
        modules.add(module);
        try (Context context = Context.create(modules, OPTIONS)) {
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(5 * PATIENCE_MILLIS);
            for (VmFunction export : module.exports()) {
                if (System.nanoTime() > until) {
                    break;
                }
                call(context, export);
            }
        } catch (IreeException e) {
            count("not linked");
        }
    }

    private void call(Context context, VmFunction export) {
        try (Invocation invocation = context.invocation(export)) {
            running = invocation;
            arguments(invocation, export.convention().arguments());
            invocation.run();
            count("returned");
        } catch (IreeException e) {
            count("failed");
        } finally {
            running = null;
        }
    }

    static void arguments(Invocation invocation, String letters) {
        for (int i = 0; i < letters.length(); i++) {
            switch (letters.charAt(i)) {
                case 'i' -> invocation.i32(i);
                case 'I' -> invocation.i64(-i);
                case 'f' -> invocation.f32(i);
                case 'F' -> invocation.f64(-i);
                case 'r' -> {
                    if (i % 2 == 0) {
                        invocation.ref(null);
                    } else {
                        Anything object = new Anything();
                        invocation.ref(object);
                        object.close();
                    }
                }
                case 'C' -> {
                    invocation.span(0);
                    i = letters.indexOf('D', i);
                }
                default -> throw new AssertionError(letters);
            }
        }
    }

    static VmTypes types() {
        VmTypes types = VmTypes.standard();
        for (String name : HAL_TYPES) {
            types = types.with(name, Anything.class);
        }
        return types;
    }

    /** Modules with every imported function, except for invalid names. */
    private List<NativeModule> imported(BytecodeModule module) {
        Map<String, NativeModule.Builder<String>> builders = new HashMap<>();
        for (VmImport wanted : module.imports()) {
            try {
                builders.computeIfAbsent(wanted.module(), name -> NativeModule.builder(name, 1_000, () -> ""))
                        .function(wanted.function(), wanted.callingConvention(), (state, call) -> answer(call));
            } catch (IllegalArgumentException | IreeException e) {
                // Imported twice, or an invalid function name: stays unresolved.
            }
        }
        return builders.values().stream().map(NativeModule.Builder::build).toList();
    }

    /** Returns ones, and an object for each reference; every fifth call yields first. */
    private void answer(VmCall call) {
        if (!call.resumed() && ++answers % 5 == 0) {
            call.defer(VmWait.NONE);
            return;
        }
        CallingConvention convention = call.function().convention();
        for (char letter : convention.results().toCharArray()) {
            switch (letter) {
                case 'i' -> call.returnI32(1);
                case 'I' -> call.returnI64(1);
                case 'f' -> call.returnF32(1);
                case 'F' -> call.returnF64(1);
                case 'r' -> call.returnRef(new Anything());
                default -> throw new AssertionError(convention.text());
            }
        }
    }

    private void count(String outcome) {
        outcomes.merge(outcome, 1, Integer::sum);
    }
}
