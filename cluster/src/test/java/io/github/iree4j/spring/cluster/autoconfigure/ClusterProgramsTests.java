package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.health.IreeHealthContributor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowingConsumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Programs of one node on devices of another, by properties: two applications in this process with real connections. */
@Timeout(180)
@ExtendWith(OutputCaptureExtension.class)
class ClusterProgramsTests extends ClusterApplications {

    private static final String ADD = "3.13.0/vmvx/add.vmfb";
    private static final float[] SUMS = {11, 22, 33, 44};

    private static float[] add(ConfigurableApplicationContext at, String program) {
        try (Results results = at.getBean(InvocationService.class)
                .invoke(program + ".add", new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40})) {
            return results.tensor(0).toFloatArray();
        }
    }

    private static Health health(ConfigurableApplicationContext at, String group, String name) {
        CompositeHealthContributor all = (CompositeHealthContributor)
                at.getBean(IreeHealthContributor.class).getContributor(group);
        return ((HealthIndicator) all.getContributor(name)).health();
    }

    private static void await(BooleanSupplier condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(condition::getAsBoolean);
    }

    /** A node with a program for itself, and the same on the device of another node. */
    private ConfigurableApplicationContext startNearAndFar() {
        return start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.modules.near.location=" + fixture(ADD),
                "iree.modules.adder.location=" + fixture(ADD),
                "iree.modules.adder.devices=far");
    }

    @Test
    void aProgramRunsOnTheDeviceOfAnotherNodeWithTheResultsOfThisNode() {
        start(1);
        ConfigurableApplicationContext here = startNearAndFar();
        IreeRuntime runtime = here.getBean(IreeRuntime.class);
        Device far = runtime.monitor().devices().find("far").orElseThrow();
        assertThat(far.info().driver()).isEqualTo("remote");
        for (int i = 0; i < 10; i++) {
            assertThat(add(here, "adder")).containsExactly(SUMS).containsExactly(add(here, "near"));
        }
        assertThat(here.getBean(Programs.class)
                        .find("adder")
                        .orElseThrow()
                        .program()
                        .devices())
                .containsExactly(far);
        assertThat(health(here, "devices", "far").getStatus()).isEqualTo(Status.UP);
        assertThat(runtime.devices()).hasSize(2);
    }

    /** A request is read while the node may be silent, and may become a part of a batch; only the call goes there. */
    @Test
    void receivedResultsAreHereUntilTheCallIsMade() throws IOException {
        start(1);
        ConfigurableApplicationContext here = startNearAndFar();
        Programs programs = here.getBean(Programs.class);
        for (String name : List.of("near", "adder")) {
            Program program = programs.find(name).orElseThrow().program();
            byte[] tens = Tensor.of(new float[] {10, 20, 30, 40}).rawBytes();
            try (Tensor ones = program.receive(
                            ElementType.F32,
                            Shape.of(4),
                            memory -> memory.copyFrom(MemorySegment.ofArray(new float[] {1, 2, 3, 4})));
                    Tensor streamed = program.receive(ElementType.F32, Shape.of(4), new ByteArrayInputStream(tens));
                    Tensor uploaded = program.upload(ElementType.F32, Shape.of(4), new ByteArrayInputStream(tens));
                    Results sums = here.getBean(InvocationService.class).invoke(name + ".add", ones, streamed);
                    Results same = here.getBean(InvocationService.class).invoke(name + ".add", ones, uploaded)) {
                assertThat(ones.onHost()).isSameAs(ones);
                assertThat(streamed.onHost()).isSameAs(streamed);
                assertThat(uploaded.onHost() == uploaded).isEqualTo(name.equals("near"));
                assertThat(sums.tensor(0).toFloatArray()).containsExactly(SUMS);
                assertThat(same.tensor(0).toFloatArray()).containsExactly(SUMS);
            }
        }
    }

    @Test
    void aProgramOfTwoDevicesUsesALocalAndARemoteDevice() {
        start(1);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://127.0.0.1:" + (port + 3) + "/local",
                "iree.modules.two.location=" + fixture("3.13.0/cpu-two/two_devices.vmfb"),
                "iree.modules.two.devices=local,far");
        try (Results results = here.getBean(InvocationService.class).invoke("two.both", new float[] {1, -1, 2, 0})) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(5, 3, 18, 0);
        }
    }

    /**
     * Neither sees the memory of the other: objects in use by both go through this node, in memory freed in the order
     * of a queue.
     */
    @Test
    void aProgramOfTwoDevicesMayUseDevicesOfTwoOtherNodes() {
        start(1);
        start(2);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.devices.other.uri=cluster://2/local",
                "iree.modules.two.location=" + fixture("3.13.0/cpu-two/two_devices.vmfb"),
                "iree.modules.two.devices=far,other",
                "iree.modules.three.location=" + fixture("3.13.0/cpu-three/three_devices.vmfb"),
                "iree.modules.three.devices=other,far,local");
        InvocationService invocations = here.getBean(InvocationService.class);
        for (int i = 0; i < 5; i++) {
            try (Results results = invocations.invoke("two.both", new float[] {1, -1, 2, 0})) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(5, 3, 18, 0);
            }
            try (Results results =
                    invocations.invoke("three.around", new float[] {1, 2, 3, 4}, new float[] {0.5f, 0.25f, 2, 8})) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(0.875f, 0.984375f, 1 / 3f, -7);
                assertThat(results.tensor(1).toFloatArray()).containsExactly(2, 4, 6, 8);
            }
        }
    }

    @Test
    void startingWithoutTheNodeFailsWithThePresentNodesAndARemedy() {
        SpringApplicationBuilder application = application(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.cluster.data.connect-timeout=300ms",
                "iree.modules.adder.location=" + fixture(ADD),
                "iree.modules.adder.devices=far");
        Throwable failure = catchThrowable(application::run);
        assertThat(failure).rootCause().hasMessageContaining("within 300 ms");
        FailureAnalysis analysis = new MissingNodeFailureAnalyzer().analyze(failure);
        assertThat(analysis.getDescription())
                .contains("'adder'", "UNAVAILABLE", "cluster://1/local", "machine index 1", "m0.s1");
        assertThat(analysis.getAction())
                .contains("iree.cluster.discovery", "iree.cluster.data.connect-timeout", "iree.modules.adder.load");
    }

    @Test
    void anImpossibleAddressIsReportedWithTheProperty() {
        start(1);
        for (String[] each : new String[][] {
            {"cluster://1/gpu", "serves [local]", "'iree.cluster.serve'"},
            {"cluster://0/local", "is a device of this node", "without 'cluster://'"},
            {"cluster://300/local", "it is cluster://1/local", "Correct 'cluster://300/local' in 'iree.devices'"},
            {"cluster:/1/local", "it is cluster://1/local", "Correct 'cluster:/1/local' in 'iree.devices'"}
        }) {
            FailureAnalysis analysis = new MissingNodeFailureAnalyzer()
                    .analyze(catchThrowable(application(
                            0,
                            "iree.devices.far.uri=" + each[0],
                            "iree.modules.adder.location=" + fixture(ADD),
                            "iree.modules.adder.devices=far")::run));
            assertThat(analysis).as(each[0]).isNotNull();
            assertThat(analysis.getDescription()).contains("'adder'", each[0], each[1]);
            assertThat(analysis.getAction()).contains("'iree.devices'", each[2]);
        }
        FailureAnalysis alone = new MissingNodeFailureAnalyzer()
                .analyze(catchThrowable(application(
                        0,
                        "iree.cluster.enabled=false",
                        "iree.devices.far.uri=cluster://1/local",
                        "iree.modules.adder.location=" + fixture(ADD),
                        "iree.modules.adder.devices=far")::run));
        assertThat(alone.getAction()).contains("'iree.cluster.enabled=true'");
    }

    @Test
    void aProgramLoadedInTheBackgroundWaitsForItsNode(CapturedOutput output) {
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1",
                "iree.cluster.data.connect-timeout=2s",
                "iree.pools.far.budget=64MB",
                "iree.pools.far.quotas.adder=1MB",
                "iree.modules.adder.location=" + fixture(ADD),
                "iree.modules.adder.devices=far",
                "iree.modules.adder.load=background");
        Programs programs = here.getBean(Programs.class);
        await(() -> programs.versions("adder").getFirst().state() == ProgramState.FAILED);
        assertThat(health(here, "devices", "far").getStatus()).isEqualTo(Status.UNKNOWN);
        assertThatThrownBy(() -> add(here, "adder"))
                .hasMessageContaining("machine index 1")
                .hasMessageEndingWith("; the program is loaded when the device is there");
        await(() -> output.getAll().contains("program 'adder' waits for a device"));
        assertThat(output).as("nobody needs to act").doesNotContain("remains not ready", "load the program again");
        ApplicationAvailability availability = here.getBean(ApplicationAvailability.class);
        assertThat(availability.getReadinessState()).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        start(1);
        await(() -> programs.versions("adder").getFirst().state() == ProgramState.READY);
        await(() -> availability.getReadinessState() == ReadinessState.ACCEPTING_TRAFFIC);
        assertThat(add(here, "adder")).containsExactly(SUMS);
    }

    /** The program looks when the node comes, perhaps between giving up and the change of status. */
    @Test
    void aProgramWithANodeJustTooLateIsLoadedAllTheSame() {
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.cluster.data.connect-timeout=100ms",
                "iree.modules.adder.location=" + fixture(ADD),
                "iree.modules.adder.devices=far",
                "iree.modules.adder.load=background");
        Programs programs = here.getBean(Programs.class);
        await(() -> programs.versions("adder").getFirst().state() == ProgramState.FAILED);
        ProgramStatus failed = programs.versions("adder").getFirst();
        List<Runnable> looks = new ArrayList<>();
        ProgramReloads reloads = new ProgramReloads(
                here.getBeanProvider(Programs.class),
                here.getBean(IreeProperties.class),
                here.getBean(IreeEvents.class),
                looks::add);
        reloads.afterSingletonsInstantiated();
        reloads.onApplicationEvent(new ProgramStatusEvent(this, failed));
        assertThat(looks).as("the node is not there").isEmpty();
        NodeIdentity identity = here.getBean(ClusterNode.class).identity();
        reloads.listener()
                .connected(new ClusterMember(new NodeIdentity(identity.clusterId(), 1, 1, 257), "127.0.0.1", port + 3));
        assertThat(looks).hasSize(1);
        looks.clear(); // a program still waiting was found
        reloads.onApplicationEvent(new ProgramStatusEvent(this, failed));
        assertThat(looks).hasSize(1);
        ProgramStatus otherwise = new ProgramStatus(
                failed.source(),
                failed.state(),
                failed.step(),
                failed.progress(),
                null,
                failed.since(),
                failed.loadTime(),
                new ProgramLoadException(failed.source(), IreeException.of(StatusCode.DATA_LOSS, "not a module")),
                List.of());
        reloads.onApplicationEvent(new ProgramStatusEvent(this, otherwise));
        assertThat(looks).as("it would fail again").hasSize(1);
    }

    /** A node with a program on the device of another node, and a program on both devices. */
    private ConfigurableApplicationContext startSpread() {
        return start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.modules.adder.location=" + fixture(ADD),
                "iree.modules.adder.devices=far",
                "iree.modules.spread.location=" + fixture(ADD),
                "iree.modules.spread.devices=local,far",
                "iree.modules.spread.placement=least-loaded");
    }

    @Test
    void theLossOfTheNodeFailsCallsAtOnceAndTheNextSessionTakesCallsAgain(CapturedOutput output) {
        ConfigurableApplicationContext there = start(1);
        ConfigurableApplicationContext here = startSpread();
        Device first =
                here.getBean(IreeRuntime.class).monitor().devices().find("far").orElseThrow();
        assertThat(add(here, "adder")).containsExactly(SUMS);
        stop(there);
        await(() -> first.failure().isPresent());
        assertThatThrownBy(() -> add(here, "adder"))
                .hasMessageContaining("m1.s1")
                .isInstanceOfSatisfying(
                        IreeException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.ABORTED));
        assertThat(health(here, "devices", "far").getDetails()).containsKey("reason");
        assertThat(health(here, "modules", "adder").getStatus()).isEqualTo(Status.DOWN);
        for (int i = 0; i < 10; i++) {
            assertThat(add(here, "spread")).as("on the working device").containsExactly(SUMS);
        }
        assertThat(health(here, "modules", "spread").getStatus()).isEqualTo(Status.UP);
        assertThat(health(here, "modules", "spread").getDetails()).containsEntry("lostDevices", List.of("far"));
        await(() -> here.getBean(IreeEvents.class).since(0, 100).stream()
                .anyMatch(event -> event.type().equals("device.lost")));
        assertThat(output)
                .as("a line without a stack trace")
                .containsPattern("WARN.*device 'local@.*' has left; everything on it fails: .*m1.s1");

        start(1);
        await(() -> here.getBean(IreeEvents.class).since(0, 100).stream()
                        .filter(event -> event.type().equals("cluster.reloaded"))
                        .count()
                == 2);
        assertThat(health(here, "modules", "spread").getDetails()).doesNotContainKey("degraded");
        assertThat(add(here, "adder")).containsExactly(SUMS);
        Device second =
                here.getBean(IreeRuntime.class).monitor().devices().find("far").orElseThrow();
        assertThat(second).isNotSameAs(first);
        assertThat(health(here, "modules", "adder").getStatus()).isEqualTo(Status.UP);
        assertThat(here.getBean(IreeRuntime.class).monitor().devices().nameOf(second))
                .isEqualTo("far");
    }

    @Test
    void resultsOfADeviceAreInputsOfAnother() {
        start(1);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.modules.spread.location=" + fixture(ADD),
                "iree.modules.spread.devices=local,far",
                "iree.modules.spread.placement=least-loaded");
        InvocationService invocations = here.getBean(InvocationService.class);
        float[] start = {1, 2, 3, 4};
        float[] step = {10, 20, 30, 40};
        for (int chain = 0; chain < 4; chain++) { // each call on the other device
            Tensor sum = Tensor.of(start, 4);
            for (int i = 0; i < 4; i++) {
                Object input = i % 2 == 0 ? sum.transfer() : sum;
                Tensor before = sum;
                try (Results results = invocations.invoke("spread.add", input, step)) {
                    sum = results.take(0);
                }
                before.close();
            }
            try (Tensor last = sum) {
                assertThat(last.toFloatArray()).containsExactly(41, 82, 123, 164);
            }
        }
        try (Tensor given = Tensor.of(start, 4);
                Tensor uploaded = here.getBean(IreeRuntime.class).upload(given)) {
            for (int i = 0; i < 4; i++) {
                try (Results results = invocations.invoke("spread.add", uploaded, step)) {
                    assertThat(results.tensor(0).toFloatArray()).containsExactly(SUMS);
                }
            }
        }
    }

    /** The inputs go there first, on the calling thread. */
    @Test
    void aCallEndsInTimeAlsoWhileItsInputsAreOnTheirWay() {
        start(1);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.modules.adder.location=" + fixture(ADD),
                "iree.modules.adder.devices=far");
        assertThat(add(here, "adder")).containsExactly(SUMS);
        InvocationService invocations = here.getBean(InvocationService.class);
        Device far =
                here.getBean(IreeRuntime.class).monitor().devices().find("far").orElseThrow();
        float[] ones = {1, 1, 1, 1};
        CompletableFuture<Void> over = new CompletableFuture<>();
        far.queue(0).hostCall(null, null, over::join, 0); // nothing gets there before its end
        try (Timeline timeline = Timeline.create();
                Fence signal = timeline.at(1)) {
            InvocationSpec call =
                    invocations.request("adder.add").inputs(ones, ones).timeout(Duration.ofMillis(50));
            ThrowingConsumer<Throwable> late = failure -> assertThat(failure)
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
            assertThatThrownBy(call::invoke).satisfies(late);
            assertThat(call.invokeAsync())
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .havingCause()
                    .satisfies(late);
            assertThatThrownBy(() -> invocations
                            .function("adder.add")
                            .call(CallOptions.DEFAULTS.timeout(Duration.ofMillis(50)), ones, ones)
                            .await()
                            .close())
                    .satisfies(late);
            assertThatThrownBy(call.signal(signal)::invoke).satisfies(late);
            assertThat(signal.failure().orElseThrow()).satisfies(late);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(over).as("nothing was waited for").isNotDone();
        } finally {
            over.complete(null);
        }
        assertThat(add(here, "adder")).containsExactly(SUMS);
    }

    @Test
    void callsGoAroundADrainingNodeAndOtherCallsKeepTheNodeNoLonger() throws Exception {
        ConfigurableApplicationContext there = start(1);
        ConfigurableApplicationContext here = startSpread();
        assertThat(add(here, "adder")).containsExactly(SUMS);
        Device far =
                here.getBean(IreeRuntime.class).monitor().devices().find("far").orElseThrow();
        assertThat(far.draining()).isEmpty();
        ClusterNode leaving = there.getBean(ClusterNode.class);
        leaving.goAway("it stops");
        await(() -> far.draining().isPresent());
        AtomicBoolean left = new AtomicBoolean();
        CompletableFuture<Void> refused = CompletableFuture.runAsync(() -> {
            while (!left.get()) {
                assertThatThrownBy(() -> add(here, "adder"))
                        .isInstanceOfSatisfying(
                                IreeException.class,
                                failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE));
            }
        });
        for (int i = 0; i < 20; i++) {
            assertThat(add(here, "spread")).containsExactly(SUMS);
        }
        assertThat(leaving.drain(Duration.ofSeconds(60)))
                .as("with nothing but refused work")
                .isTrue();
        left.set(true);
        refused.get(60, TimeUnit.SECONDS);
    }

    @Test
    void callsInFlightFailWithTheNode() throws Exception {
        ConfigurableApplicationContext there = start(1);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.modules.adder.location=" + fixture("3.13.0/vmvx-async/add.vmfb"),
                "iree.modules.adder.devices=far");
        try (Timeline timeline = Timeline.create();
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> call = here.getBean(Programs.class)
                    .function("adder.add")
                    .call(CallOptions.DEFAULTS.after(never), new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40});
            assertThat(call).isNotDone();
            stop(there);
            assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS)).rootCause().hasMessageContaining("m1.s1");
        }
    }

    /** Loads 64 KiB of parameter {@code weight} onto the program's device, and returns the length of the buffer. */
    private static final String WEIGHTS = """
            vm.module @weights version 0
            vm.type i32
            vm.type i64
            vm.type !vm.buffer
            vm.type !vm.list<?>
            vm.type !hal.buffer
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.fence.create cconv "0rI_r"
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @hal.buffer.length cconv "0r_I"
            vm.import @hal.device.queue.alloca cconv "0rIrrIiiII_r"
            vm.import @hal.device.queue.copy cconv "0rIrrrIrIII_v"
            vm.import @io_parameters.load cconv "0rIrrrIiirrr_r"
            vm.rodata[0] @keys = 00000000 06000000
            vm.rodata[1] @names = "weight"
            vm.rodata[2] @spans = 0000000000000000 0000000000000000 0000010000000000

            vm.export @size
            vm.func @size() -> (i64) {
            ^entry:
              %i0 = vm.const.i32.zero
              %r0 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64.zero
              %i4:5 = vm.const.i64 -1
              %r1 = vm.call @hal.fence.create(%r0, %i2:3)
              %r2 = vm.const.ref.zero
              %r3 = vm.const.ref.rodata @keys
              %r4 = vm.const.ref.rodata @names
              %r5 = vm.const.ref.rodata @spans
              %i6 = vm.const.i32 48
              %i7 = vm.const.i32 525315
              %r6 = vm.call @io_parameters.load(%r0, %i4:5, %r2, %r1, %r2, %i4:5, %i6, %i7, %r3, %r4, %r5)
              %r7 = vm.list.get.ref %r6, %i0 : !hal.buffer
              %i10:11 = vm.call @hal.buffer.length(%r7)
              %r8 = vm.call @hal.fence.create(%r0, %i2:3)
              %r9 = vm.call @hal.device.queue.alloca(%r0, %i4:5, %r1, %r8, %i2:3, %i6, %i7, %i10:11, %i2:3)
              %r10 = vm.call @hal.fence.create(%r0, %i2:3)
              vm.call @hal.device.queue.copy(%r0, %i4:5, %r8, %r10, %r7, %i2:3, %r9, %i2:3, %i10:11, %i2:3)
              %i8 = vm.const.i32 -1
              %i9 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i8, %i2:3, %r10)
              vm.discard.refs %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10
              vm.return %i10:11
            }
            """;

    @Test
    void parametersAreSentOnceHoweverOftenTheProgramIsLoaded() throws IOException {
        Path module = Files.write(directory.resolve("weights.vmfb"), VmAssembler.assemble(WEIGHTS));
        float[] weights = new float[16 << 10];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = i;
        }
        Path archive = directory.resolve("weights.irpa");
        new IrpaWriter().stored("weight", weights).write(archive);
        start(1);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.modules.weights.location=" + module,
                "iree.modules.weights.parameters.default=" + archive,
                "iree.modules.weights.devices=far");
        RemoteSession session =
                here.getBean(ClusterNode.class).peers().getFirst().session();
        List<Long> sent = new ArrayList<>();
        for (int load = 0; load < 3; load++) {
            here.getBean(Programs.class).load("weights", null);
            long before = session.statistics().bytesSent();
            try (Results results = here.getBean(InvocationService.class).invoke("weights.size")) {
                assertThat(results.longValue(0)).isEqualTo(64 << 10);
            }
            sent.add(session.statistics().bytesSent() - before);
        }
        System.out.println("bytes sent for 64 KiB of parameters: " + sent);
        assertThat(sent.getFirst()).isGreaterThan(64 << 10);
        assertThat(sent.subList(1, 3)).allSatisfy(bytes -> assertThat(bytes).isLessThan(1000));
    }
}
