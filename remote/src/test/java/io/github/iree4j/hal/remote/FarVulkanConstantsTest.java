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
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.VulkanDriverProvider;
import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs on a Vulkan device of another node, with writes into constants of the module: with the results of the same
 * device here.
 */
@Timeout(300)
class FarVulkanConstantsTest {
    private final Loopback loopback = new Loopback(1).repeats(5);
    private final List<AutoCloseable> opened = new ArrayList<>();

    @SuppressWarnings("NullAway") // set before each test
    private Device served;

    @SuppressWarnings("NullAway") // set before each test
    private RemoteNode one;

    @SuppressWarnings("NullAway") // set before each test
    private IreeRuntime far;

    @BeforeEach
    void open() {
        VulkanOfProcess.assume();
        NodeIdentity client = new NodeIdentity(TestNodes.CLUSTER, 1, 1, 1);
        NodeIdentity server = new NodeIdentity(TestNodes.CLUSTER, 2, 1, 2);
        SchedulingDomain here = TestNodes.domain(client);
        SchedulingDomain there = TestNodes.domain(server);
        VulkanDriverProvider vulkan = new VulkanDriverProvider();
        served = opened(vulkan.open(
                vulkan.devices().getFirst().id(),
                DeviceOptions.builder().schedulingDomain(there).build()));
        one = opened(RemoteNode.builder(client, here).build());
        RemoteNode two = opened(RemoteNode.builder(server, there).device(served).build());
        loopback.connect(one, two);
        loopback.run();
        loopback.start();
        opened(loopback::stop);
        DeviceOptions options = DeviceOptions.builder()
                .schedulingDomain(here)
                .with(new TestNodesProvider.Nodes(List.of(one, two)))
                .build();
        far = IreeRuntime.builder()
                .device("near", "local", options)
                .device("far", "test-nodes://2", options)
                .build();
        opened(() -> {
            far.close();
            assertThat(one.memory()).as("memory at the peer").isEmpty();
        });
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        if (!opened.isEmpty()) {
            assertThat(served.allocator().statistics().bytesLive()).isZero();
            VulkanOfProcess.assertNothingToComplainOf();
        }
    }

    private Program load(String file) {
        return far.load(ProgramOptions.builder()
                .module(Fixtures.file(file))
                .device("far")
                .build());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.11.0/vulkan/insert_constant.vmfb",
                "3.13.0/vulkan/insert_constant.vmfb",
                "3.13.0/vulkan-bda/addresses.vmfb"
            })
    void callsSeeNothingOfEachOther(String file) throws Exception {
        try (Program program = load(file);
                ExecutorService executor = Executors.newFixedThreadPool(3)) {
            List<Future<?>> all = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                int thread = t;
                all.add(executor.submit(() -> {
                    for (int i = 0; i < 8; i++) {
                        int x = 1000 * thread + 10 * i;
                        assertThat(insert(program, x)).isEqualTo(inserted(x));
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    @Test
    void theNextCallFindsNoStoreOfTheLast() {
        try (Program program = load("3.13.0/vulkan/fill_constant_at.vmfb");
                Tensor v = Tensor.of(new float[] {-1, -2}, 2)) {
            assertThat(result(program, "insert", v, 0L)).isEqualTo("8xf32=-1 -2 3 4 5 6 7 8 ");
            assertThat(result(program, "insert", v, 5L)).isEqualTo("8xf32=1 2 3 4 5 -1 -2 8 ");
            assertThat(result(program, "insert", v, 1L)).isEqualTo("8xf32=1 -1 -2 4 5 6 7 8 ");
        }
    }

    @Test
    void storesOfAnInitializerStayAndStoresOfACallDoNot() {
        try (Program program = load("3.13.0/vulkan/initial_constant.vmfb")) {
            for (int x = 100; x < 400; x += 100) {
                try (Tensor slice = Tensor.of(new int[] {x, x + 1, x + 2, x + 3}, 2, 2)) {
                    assertThat(result(program, "put", slice))
                            .startsWith("4x4xi32=[1 2 3 4][5 -1 -2 8][9 -3 %d %d][13 14 %d %d] "
                                    .formatted(x, x + 1, x + 2, x + 3));
                }
                assertThat(result(program, "get")).isEqualTo("4x4xi32=[1 2 3 4][5 -1 -2 8][9 -3 -4 12][13 14 15 16] ");
            }
        }
    }

    /** Each view is an object of the other node, with a handle of this node. */
    @Test
    void aCallHasAViewOnlyOfTheConstantWrittenByItsShader() {
        try (Program reads = load("3.13.0/vulkan/constants.vmfb");
                Program writes = load("3.13.0/vulkan/insert_constant.vmfb")) {
            result(reads, "constants", (Object) new float[4][4]);
            insert(writes, 1);
            long before = one.handle();
            result(reads, "constants", (Object) new float[4][4]);
            assertThat(one.handle()).as("after a reading call").isEqualTo(before + 1);
            insert(writes, 1);
            assertThat(one.handle()).as("after a writing call").isGreaterThan(before + 2);
        }
    }
}
