package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.iree4j.Effort;
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
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ChangedFunctions;
import io.github.iree4j.vm.bytecode.Compilation;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A million damaged modules: each is refused with a status, or loads, and then the damaged functions are compiled, accepted by the JVM, and
 * run or fail with a status. {@link ModuleFuzzTest} does more with fewer files.
 *
 * <p>{@link Effort} decides the number and the choice. Of a loaded module, only functions that differ from the
 * undamaged module are compiled: the others were compiled with the undamaged module.
 */
class HostileModulesTest {
    private static final int QUICK = 2_000;
    private static final int LONG = 1_000_000;
    private static final int THREADS = 2;

    /** Limits on heap memory for reading, and then for compiling and running, a file. */
    private static final long MAX_BYTES = 64L << 20;

    /** Limit on CPU time of the thread, for a file. */
    private static final long MAX_CPU_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Looping programs are stopped after one to two such intervals. */
    private static final long PATIENCE_MILLIS = 5;

    private static final ContextOptions OPTIONS =
            ContextOptions.DEFAULTS.maxCallDepth(256).maxStackWords(1 << 16).maxMemory(1 << 20);

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    @Tag("long")
    @Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void damagedModulesAreRefusedOrCompiledAndRun() throws Exception {
        int count = Effort.rounds(QUICK, LONG);
        long seed = Effort.seed(HostileModulesTest.class, count + " files", 20261120);
        List<ModuleMutator.Seed> seeds = ModuleFuzzTest.seeds();
        Map<ModuleMutator.Seed, BytecodeModule> originals = new IdentityHashMap<>();
        for (ModuleMutator.Seed intact : seeds) {
            BytecodeModule module = read(intact.file());
            ChangedFunctions.compileAll(module);
            originals.put(intact, module);
        }
        Map<String, Integer> outcomes = new TreeMap<>();
        ExecutorService workers = Executors.newFixedThreadPool(THREADS);
        ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("hostile-watchdog").factory());
        try {
            List<Future<Map<String, Integer>>> results = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Attempts attempts = new Attempts(seeds, originals, seed + i, count / THREADS);
                watchdog.scheduleAtFixedRate(attempts::look, PATIENCE_MILLIS, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                results.add(workers.submit(attempts));
            }
            for (Future<Map<String, Integer>> result : results) {
                result.get().forEach((outcome, n) -> outcomes.merge(outcome, n, Integer::sum));
            }
        } finally {
            workers.shutdownNow();
            watchdog.shutdownNow();
            originals.values().forEach(BytecodeModule::close);
        }
        System.out.println("hostile: " + outcomes);
        assertThat(outcomes.get("loaded")).as("files past the verifier").isGreaterThan(count / 20);
        assertThat(outcomes.get("refused")).as("files that did not").isGreaterThan(count / 5);
        assertThat(outcomes.get("compiled")).as("damaged functions compiled").isGreaterThan(count / 40);
        assertThat(outcomes.get("returned")).as("calls that returned").isGreaterThan(count / 100);
    }

    private static BytecodeModule read(byte[] file) {
        return BytecodeModule.read(
                MemorySegment.ofArray(file),
                "hostile",
                ModuleFuzzTest.types(),
                ModuleLimits.DEFAULTS,
                null,
                Compilation.OFF);
    }

    /** The work of a thread. */
    private final class Attempts implements Callable<Map<String, Integer>> {
        private final List<ModuleMutator.Seed> seeds;
        private final Map<ModuleMutator.Seed, BytecodeModule> originals;
        private final long seed;
        private final int count;
        private final Map<String, Integer> outcomes = new ConcurrentHashMap<>();
        private volatile @Nullable Invocation running;
        private @Nullable Invocation seen;

        /** The thread in the hook of a context, with an uncancellable invocation. */
        private volatile @Nullable Thread linking;

        private int linksSeen;
        private volatile boolean stopped;
        private int answers;

        Attempts(
                List<ModuleMutator.Seed> seeds,
                Map<ModuleMutator.Seed, BytecodeModule> originals,
                long seed,
                int count) {
            this.seeds = seeds;
            this.originals = originals;
            this.seed = seed;
            this.count = count;
        }

        /** Stops the call already running at the previous look. */
        void look() {
            Invocation now = running;
            if (now != null && now == seen) {
                stopped = true;
                now.cancel();
            }
            seen = now;
            Thread thread = linking;
            linksSeen = thread != null && now == null ? linksSeen + 1 : 0;
            if (linksSeen > 1 && thread != null) {
                stopped = true;
                thread.interrupt();
            }
        }

        @Override
        public Map<String, Integer> call() throws Exception {
            ModuleMutator mutator = new ModuleMutator(seeds, seed);
            SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < count; i++) {
                byte[] file = mutator.next();
                BytecodeModule original = originals.get(mutator.last());
                stopped = false;
                answers = 0;
                long nanos = threads.getCurrentThreadCpuTime();
                long bytes = threads.getCurrentThreadAllocatedBytes();
                try {
                    attempt(file, original, random);
                } catch (Throwable e) {
                    throw new AssertionError(ModuleFuzzTest.describe(seed, i, file), e);
                }
                nanos = threads.getCurrentThreadCpuTime() - nanos;
                bytes = threads.getCurrentThreadAllocatedBytes() - bytes;
                // A loop of allocations and drops until stopped holds little; maxMemory allows as much.
                if (nanos > MAX_CPU_NANOS || bytes > MAX_BYTES && !stopped) {
                    throw new AssertionError("%d ns and %d bytes for %s"
                            .formatted(nanos, bytes, ModuleFuzzTest.describe(seed, i, file)));
                }
            }
            return outcomes;
        }

        private void attempt(byte[] file, BytecodeModule original, SplittableRandom random) {
            BytecodeModule module;
            try {
                module = read(file);
            } catch (IreeException e) {
                count("refused", 1);
                return;
            }
            count("loaded", 1);
            try (module) {
                List<Integer> changed = ChangedFunctions.compile(module, original, random);
                int refused = module.compilation().refused().size();
                count("compiled", changed.size() - refused);
                count("interpreted", refused);
                List<VmFunction> exports = module.exports().stream()
                        .filter(export -> changed.contains(export.ordinal()))
                        .toList();
                if (!exports.isEmpty()) {
                    run(module, exports);
                }
            }
        }

        private void run(BytecodeModule module, List<VmFunction> exports) {
            List<VmModule> modules = new ArrayList<>(imported(module));
            modules.add(module);
            linking = Thread.currentThread();
            try (Context context = Context.create(modules, OPTIONS)) {
                for (VmFunction export : exports.subList(0, Math.min(10, exports.size()))) {
                    try (Invocation invocation = context.invocation(export)) {
                        running = invocation;
                        ModuleFuzzTest.arguments(invocation, export.convention().arguments());
                        invocation.run();
                        count("returned", 1);
                    } catch (IreeException e) {
                        count("failed", 1);
                    } finally {
                        running = null;
                    }
                }
            } catch (IreeException e) {
                count("not linked", 1);
            } finally {
                linking = null;
                Thread.interrupted();
            }
        }

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
                    default -> call.returnRef(new ModuleFuzzTest.Anything());
                }
            }
        }

        private void count(String outcome, int n) {
            outcomes.merge(outcome, n, Integer::sum);
        }
    }
}
