package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs with writes into constants of their module, as compilers since 3.6 make them. Each call begins with the
 * module's constants, and sees only its own changes, regardless of concurrent and later calls.
 */
class ConstantsInPlaceTest {
    private static final String SORTED = "4x4xi32=[1 2 3 4][1 2 3 4][7 8 9 9][-3 -1 0 5]";

    private @Nullable IreeRuntime runtime;
    private boolean vulkan;

    @AfterEach
    void nothingIsLeft() {
        if (runtime == null) {
            return; // skipped
        }
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        if (vulkan) {
            VulkanOfProcess.assertNothingToComplainOf();
        }
    }

    /** Creates a runtime for a fixture. */
    private IreeRuntime runtime(String file) {
        if (file.contains("/vulkan")) {
            VulkanOfProcess.assume();
            vulkan = true;
            runtime = IreeRuntime.builder().device("vulkan").build();
        } else {
            runtime = IreeRuntime.create();
        }
        return runtime;
    }

    private static Results insert(Program program, int x) {
        try (Tensor tensor = Tensor.of(new int[] {x, x + 1, x + 2, x + 3}, 2, 2)) {
            return program.function("insert").invoke(tensor);
        }
    }

    private static String inserted(int x) {
        return "4x4xi32=[1 2 3 4][5 %d %d 8][9 %d %d 12][13 14 15 16]".formatted(x, x + 1, x + 2, x + 3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.11.0/cpu/insert_constant.vmfb",
                "3.13.0/cpu/insert_constant.vmfb",
                "3.11.0/cpu-async/insert_constant.vmfb",
                "3.13.0/cpu-async/insert_constant.vmfb",
                "3.11.0/vulkan/insert_constant.vmfb",
                "3.13.0/vulkan/insert_constant.vmfb",
                "3.13.0/vulkan-bda/addresses.vmfb"
            })
    void aResultStaysAsTheConstantOfItsCall(String file) {
        List<Results> all = new ArrayList<>();
        try (Program program = runtime(file).load(Fixtures.file(file))) {
            for (int i = 0; i < 40; i++) {
                all.add(insert(program, 100 * i));
            }
            for (int i = 0; i < 40; i++) {
                assertThat(all.get(i).tensor(0)).as("call %d", i).hasToString(inserted(100 * i));
            }
        } finally {
            all.forEach(Results::close);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.11.0/cpu/insert_constant.vmfb",
                "3.13.0/cpu/insert_constant.vmfb",
                "3.13.0/cpu-async/insert_constant.vmfb",
                "3.11.0/vulkan/insert_constant.vmfb",
                "3.13.0/vulkan/insert_constant.vmfb",
                "3.13.0/vulkan-bda/addresses.vmfb"
            })
    void concurrentCallsSeeNothingOfEachOther(String file) throws Exception {
        IreeRuntime both = runtime(file);
        try (Program one = both.load(Fixtures.file(file));
                Program other = both.load(Fixtures.file(file))) {
            int threads = 6;
            CyclicBarrier together = new CyclicBarrier(threads);
            List<Callable<Void>> work = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                work.add(() -> {
                    together.await(); // the first store of all happens with other calls in progress
                    for (int i = 0; i < 150; i++) {
                        int x = 1_000 * thread + 4 * i + 100;
                        try (Results results = insert(thread % 3 == 0 ? other : one, x)) {
                            assertThat(results.tensor(0)).hasToString(inserted(x));
                        }
                    }
                    return null;
                });
            }
            try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
                for (Future<Void> each : executor.invokeAll(work)) {
                    each.get();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0/cpu/sort_constant.vmfb", "3.13.0/cpu/sort_constant.vmfb"})
    void theSecondCallSeesTheOriginalConstant(String file) {
        try (Program program = runtime(file).load(Fixtures.file(file))) {
            for (int i = 0; i < 3; i++) {
                try (Results results = program.function("sort").invoke()) {
                    assertThat(results.tensor(0)).hasToString(SORTED);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/cpu/initial_constant.vmfb",
                "3.13.0/cpu-async/initial_constant.vmfb",
                "3.13.0/vmvx/initial_constant.vmfb",
                "3.13.0/vulkan/initial_constant.vmfb"
            })
    void changesOfAConstantByAnInitializerStayAndChangesByACallDoNot(String file) {
        try (Program program = runtime(file).load(Fixtures.file(file));
                Program other = program.newInstance()) {
            for (int i = 0; i < 6; i++) {
                Program each = i % 2 == 0 ? program : other;
                int x = 100 * i;
                try (Tensor slice = Tensor.of(new int[] {x, x + 1, x + 2, x + 3}, 2, 2);
                        Results put = each.function("put").invoke(slice);
                        Results table = each.function("get").invoke()) {
                    assertThat(put.tensor(0))
                            .hasToString("4x4xi32=[1 2 3 4][5 -1 -2 8][9 -3 %d %d][13 14 %d %d]"
                                    .formatted(x, x + 1, x + 2, x + 3));
                    assertThat(put.tensor(1))
                            .hasToString("4x4xi32=[21 22 23 24][25 26 %d %d][29 30 %d %d][33 34 35 36]"
                                    .formatted(x, x + 1, x + 2, x + 3));
                    assertThat(table.tensor(0)).hasToString("4x4xi32=[1 2 3 4][5 -1 -2 8][9 -3 -4 12][13 14 15 16]");
                }
            }
        }
    }

    private static String result(Program program, String function, Object... arguments) {
        try (Results results = program.function(function).invoke(arguments)) {
            return results.tensor(0).toString();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/cpu/fill_constant.vmfb",
                "3.13.0/cpu-async/fill_constant.vmfb",
                "3.13.0/vmvx/fill_constant.vmfb",
                "3.13.0/vulkan/fill_constant.vmfb"
            })
    void transfersWriteInPlaceToo(String file) {
        try (Program one = runtime(file).load(Fixtures.file(file));
                Program other = one.newInstance()) {
            for (int i = 0; i < 6; i++) {
                fillConstants(i % 2 == 0 ? one : other, 10 * i + 20);
            }
        }
    }

    private static void fillConstants(Program program, int x) {
        int y = x + 1;
        try (Tensor v = Tensor.of(new float[] {x, y}, 2)) {
            // The less overwriting functions come later: leftovers would show.
            assertThat(result(program, "both", v))
                    .isEqualTo("4x4xf32=[%d %d 3 4][5 %d 7 8][9 %d 11 12][13 14 15 16]".formatted(x, y, x, y));
            assertThat(result(program, "within", v))
                    .isEqualTo("4x2xf32=[1 2][%d %d][1 2][%d %d]".formatted(x, y, x, y));
            assertThat(result(program, "slice", v)).isEqualTo("8xf32=1 2 3 %d %d 6 7 8".formatted(x, y));
            assertThat(result(program, "row", v)).isEqualTo("4x2xf32=[1 2][%d %d][5 6][7 8]".formatted(x, y));
            assertThat(result(program, "row_then", v))
                    .isEqualTo("4x2xf32=[2 4][%d %d][10 12][14 16]".formatted(2 * x, 2 * y));
            assertThat(result(program, "fill", v)).isEqualTo("8xf32=1 2 3 9 9 6 7 8");
            assertThat(result(program, "scalar", v)).isEqualTo("8xf32=%d 2 3 4 5 6 7 8".formatted(x));
            assertThat(result(program, "update", x)).isEqualTo("8xi32=1 21 22 23 5 6 %d 8".formatted(x));
            assertThat(result(program, "initial", v)).isEqualTo("4x2xf32=[1 2][-3 -4][5 6][%d %d]".formatted(x, y));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.13.0/cpu/fill_constant_at.vmfb", "3.13.0/vulkan/fill_constant_at.vmfb"})
    void transfersWriteWhereTheCallerSays(String file) {
        try (Program program = runtime(file).load(Fixtures.file(file));
                Tensor v = Tensor.of(new float[] {-1, -2}, 2)) {
            assertThat(result(program, "insert", v, 0L)).isEqualTo("8xf32=-1 -2 3 4 5 6 7 8");
            assertThat(result(program, "insert", v, 5L)).isEqualTo("8xf32=1 2 3 4 5 -1 -2 8");
            assertThat(result(program, "insert", v, 1L)).isEqualTo("8xf32=1 -1 -2 4 5 6 7 8");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/cpu/fill_constant.vmfb",
                "3.13.0/cpu-async/fill_constant.vmfb",
                "3.13.0/vmvx/fill_constant.vmfb",
                "3.13.0/vulkan/fill_constant.vmfb"
            })
    void transfersOfCallsAtTheSameTimeToo(String file) throws Exception {
        try (Program one = runtime(file).load(Fixtures.file(file));
                Program other = one.newInstance()) {
            int threads = 4;
            CyclicBarrier together = new CyclicBarrier(threads);
            List<Callable<Void>> work = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                work.add(() -> {
                    together.await();
                    for (int i = 0; i < 20; i++) {
                        fillConstants(thread % 2 == 0 ? one : other, 1_000 * thread + 4 * i + 100);
                    }
                    return null;
                });
            }
            try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
                for (Future<Void> each : executor.invokeAll(work)) {
                    each.get();
                }
            }
        }
    }

    @Test
    void onVulkanAConstantIsCopiedForAWritingShaderOnly() {
        IreeRuntime vulkan = runtime("3.13.0/vulkan/constants.vmfb");
        try (Program reads = vulkan.load(Fixtures.file("3.13.0/vulkan/constants.vmfb"));
                Program writes = vulkan.load(Fixtures.file("3.13.0/vulkan/insert_constant.vmfb"))) {
            long before = bytesLive(vulkan);
            reads.function("constants").invoke((Object) new float[4][4]).close();
            assertThat(bytesLive(vulkan)).as("after a reading call").isEqualTo(before);
            insert(writes, 1).close();
            assertThat(bytesLive(vulkan)).as("after a writing call").isGreaterThan(before);
        }
    }

    @Test
    void alsoForShadersWithAddresses() {
        IreeRuntime vulkan = runtime("3.13.0/vulkan-bda/addresses.vmfb");
        try (Program program = vulkan.load(Fixtures.file("3.13.0/vulkan-bda/addresses.vmfb"))) {
            long before = bytesLive(vulkan);
            program.function("scale").invoke((Object) new float[4][4]).close();
            long tables = bytesLive(vulkan) - before; // of addresses, of as many bindings
            insert(program, 1).close();
            long withCopy = bytesLive(vulkan) - before - tables;
            assertThat(withCopy).as("after a writing call, less a reading call").isGreaterThan(tables);
        }
    }

    private static long bytesLive(IreeRuntime runtime) {
        return runtime.device().allocator().statistics().bytesLive();
    }

    @Test
    void mappedModulesDoTheSame() {
        ProgramOptions options = ProgramOptions.builder()
                .mappedModule(Fixtures.file("3.13.0/cpu/insert_constant.vmfb"))
                .build();
        try (Program program = runtime("cpu").load(options);
                Results first = insert(program, 50);
                Results second = insert(program, 70)) {
            assertThat(first.tensor(0)).hasToString(inserted(50));
            assertThat(second.tensor(0)).hasToString(inserted(70));
        }
    }
}
