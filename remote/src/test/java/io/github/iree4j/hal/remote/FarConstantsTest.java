package io.github.iree4j.hal.remote;

import static io.github.iree4j.hal.remote.ConstantPrograms.insert;
import static io.github.iree4j.hal.remote.ConstantPrograms.inserted;
import static io.github.iree4j.hal.remote.ConstantPrograms.result;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Device;
import io.github.iree4j.nativeaccess.CpuFeatures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs on a device of another node, with writes into constants of the module, as compilers since 3.6 make them:
 * with the results of the CPU of this node.
 */
@Timeout(300)
class FarConstantsTest {
    private final ThreeCpus cluster = new ThreeCpus(7, 2);
    private final IreeRuntime runtime = cluster.runtime();
    private final List<Program> programs = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        programs.reversed().forEach(Program::close);
        for (Device each : runtime.devices()) {
            assertThat(each.allocator().statistics().bytesLive()).as(each.id()).isZero();
        }
        runtime.close();
        assertThat(cluster.nodes.getFirst().memory()).as("memory of peers").isEmpty();
        assertThat(cluster.nodes.getFirst().session(2).transfers().count())
                .as("transfers")
                .isZero();
        cluster.close();
    }

    private Program load(String file, int device) {
        if (!file.contains("/vmvx")) {
            Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the modules are compiled for x86_64");
        }
        Program program = runtime.load(ProgramOptions.builder()
                .module(Fixtures.file(file))
                .device("" + device)
                .build());
        programs.add(program);
        return program;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.11.0/cpu/insert_constant.vmfb",
                "3.13.0/cpu/insert_constant.vmfb",
                "3.13.0/cpu-async/insert_constant.vmfb",
                "3.13.0/vmvx/insert_constant.vmfb"
            })
    void eachCallBeginsWithTheConstantsOfTheModule(String file) {
        Program near = load(file, 1);
        Program far = load(file, 2);
        for (int i = 0; i < 10; i++) {
            assertThat(insert(far, 100 * i)).isEqualTo(insert(near, 100 * i)).isEqualTo(inserted(100 * i));
        }
    }

    private static String insertAt(Program program, long at) {
        try (Tensor v = Tensor.of(new float[] {-1, -2}, 2)) {
            return result(program, "insert", v, at);
        }
    }

    /** Of the constant 1 to 8. */
    private static String insertedAt(int at) {
        List<String> all = new ArrayList<>(List.of("1", "2", "3", "4", "5", "6", "7", "8"));
        all.set(at, "-1");
        all.set(at + 1, "-2");
        return "8xf32=" + String.join(" ", all) + " ";
    }

    @Test
    void theNextCallFindsNoStoreOfTheLast() {
        Program far = load("3.13.0/cpu/fill_constant_at.vmfb", 2);
        for (int at : new int[] {0, 5, 1}) {
            assertThat(insertAt(far, at)).isEqualTo(insertedAt(at));
        }
    }

    @Test
    void aConcurrentCallFindsNoStoreOfAnother() throws Exception {
        Program far = load("3.13.0/cpu/fill_constant_at.vmfb", 2);
        atOnce(6, 20, (thread, i) -> {
            int at = (thread + i) % 7;
            assertThat(insertAt(far, at)).isEqualTo(insertedAt(at));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0/cpu/sort_constant.vmfb", "3.13.0/cpu/sort_constant.vmfb"})
    void aConstantSortedByACallIsUnsortedForTheNext(String file) {
        Program far = load(file, 2);
        for (int i = 0; i < 3; i++) {
            assertThat(result(far, "sort")).isEqualTo("4x4xi32=[1 2 3 4][1 2 3 4][7 8 9 9][-3 -1 0 5] ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/cpu/insert_constant.vmfb",
                "3.13.0/cpu-async/insert_constant.vmfb",
                "3.13.0/vmvx/insert_constant.vmfb"
            })
    void concurrentCallsSeeNothingOfEachOther(String file) throws Exception {
        Program one = load(file, 2);
        Program other = load(file, 2);
        atOnce(6, 20, (thread, i) -> {
            int x = 1_000 * thread + 4 * i + 100;
            assertThat(insert(thread % 3 == 0 ? other : one, x)).isEqualTo(inserted(x));
        });
    }

    private interface Call {
        void make(int thread, int i);
    }

    private static void atOnce(int threads, int count, Call call) throws Exception {
        CyclicBarrier together = new CyclicBarrier(threads);
        List<Callable<Void>> work = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int thread = t;
            work.add(() -> {
                together.await();
                for (int i = 0; i < count; i++) {
                    call.make(thread, i);
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/cpu/initial_constant.vmfb",
                "3.13.0/cpu-async/initial_constant.vmfb",
                "3.13.0/vmvx/initial_constant.vmfb"
            })
    void storesOfAnInitializerStayAndStoresOfACallDoNot(String file) {
        List<Program> all = List.of(load(file, 2), load(file, 1), load(file, 2));
        for (int i = 0; i < 9; i++) {
            Program each = all.get(i % all.size());
            int x = 100 * i;
            try (Tensor slice = Tensor.of(new int[] {x, x + 1, x + 2, x + 3}, 2, 2)) {
                assertThat(result(each, "put", slice))
                        .isEqualTo(
                                "4x4xi32=[1 2 3 4][5 -1 -2 8][9 -3 %d %d][13 14 %d %d] 4x4xi32=[21 22 23 24][25 26 %d %d][29 30 %d %d][33 34 35 36] "
                                        .formatted(x, x + 1, x + 2, x + 3, x, x + 1, x + 2, x + 3));
            }
            assertThat(result(each, "get")).isEqualTo("4x4xi32=[1 2 3 4][5 -1 -2 8][9 -3 -4 12][13 14 15 16] ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/cpu/fill_constant.vmfb",
                "3.13.0/cpu-async/fill_constant.vmfb",
                "3.13.0/vmvx/fill_constant.vmfb"
            })
    void transfersWriteInPlaceToo(String file) throws Exception {
        Program near = load(file, 1);
        Program far = load(file, 2);
        atOnce(3, 4, (thread, i) -> {
            int x = 1_000 * thread + 10 * i + 20;
            assertThat(filled(far, x)).isEqualTo(filled(near, x));
        });
    }

    private static String filled(Program program, int x) {
        StringBuilder all = new StringBuilder();
        try (Tensor v = Tensor.of(new float[] {x, x + 1}, 2)) {
            for (String each : List.of("both", "within", "slice", "row", "row_then", "fill", "scalar", "initial")) {
                all.append(result(program, each, v));
            }
        }
        return all + result(program, "update", x);
    }
}
