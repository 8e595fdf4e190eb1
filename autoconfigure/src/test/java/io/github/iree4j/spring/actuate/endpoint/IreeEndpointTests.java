package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ByteArrayResource;

class IreeEndpointTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class, IreeEndpointAutoConfiguration.class))
            .withPropertyValues("management.endpoints.web.exposure.include=iree");

    @Test
    void showsDevicesAndModulesWithTheirFunctions(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues(
                        "iree.modules.adding.location=" + adder, "iree.device=cpu", "iree.devices.cpu.uri=local")
                .run(context -> {
                    IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                    IreeDescriptor iree = endpoint.iree();
                    assertThat(iree.devices()).singleElement().satisfies(device -> {
                        assertThat(device.name()).isEqualTo("cpu");
                        assertThat(device.driver()).isEqualTo("local");
                        assertThat(device.executableFormats()).contains("vmvx-bytecode-fb");
                        assertThat(device.failure()).isNull();
                    });
                    assertThat(iree.modules()).containsExactly(Map.entry("adding", ProgramState.READY));
                    ModuleDescriptor module = (ModuleDescriptor) endpoint.one("modules", "adding");
                    assertThat(module.versions()).singleElement().satisfies(version -> {
                        assertThat(version.location()).isEqualTo(adder.toString());
                        assertThat(version.devices()).containsExactly("cpu");
                        assertThat(version.contexts()).isEqualTo(1);
                        assertThat(version.loadTime()).isPositive();
                        assertThat(version.functions())
                                .extracting(FunctionDescriptor::name)
                                .containsExactlyInAnyOrder("add", "refuse");
                    });
                    assertThat(endpoint.one("modules", "subtracting")).isNull();
                    assertThat(endpoint.part("weather", null, null)).isNull();
                });
    }

    @Test
    void queuesCountResolvedWaits() {
        runner.run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            try (Timeline timeline = runtime.createTimeline();
                    Fence one = timeline.at(1);
                    Fence two = timeline.at(2)) {
                runtime.device().queue(0).barrier(null, one, 0);
                one.await();
                runtime.device().queue(0).barrier(one, two, 0);
                two.await();
            }
            QueueDescriptor queue = ((QueueDescriptor.All) endpoint.part("queues", null, null))
                    .queues()
                    .getFirst();
            assertThat(queue.name()).isEqualTo("local/0");
            assertThat(queue.submitted()).isEqualTo(2);
            assertThat(queue.decisions().reached()).isEqualTo(1);
        });
    }

    @Test
    void recordingIsReadInPagesAndExported(@TempDir Path directory) {
        Path file = directory.resolve("all.iree4j");
        runner.withPropertyValues(
                        "iree.recorder.enabled=true", "iree.advanced.recorder.bytes=2MB", "iree.recorder.file=" + file)
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                    try (Timeline timeline = runtime.createTimeline();
                            Fence one = timeline.at(1)) {
                        runtime.device().queue(0).barrier(null, one, 0);
                        one.await();
                    }
                    RecordingDescriptor page = (RecordingDescriptor) endpoint.part("recording", null, null);
                    assertThat(page.events())
                            .extracting(RecordingDescriptor.Event::kind)
                            .filteredOn(kind -> !kind.equals("pools-hold"))
                            .startsWith("submitted", "issued", "completed");
                    assertThat(page.queues())
                            .singleElement()
                            .satisfies(queue -> assertThat(queue.name()).isEqualTo("local/0"));
                    assertThat(page.more()).isFalse();
                    assertThat(page.completeFrom()).isZero();
                    RecordingDescriptor next = (RecordingDescriptor) endpoint.part("recording", page.cursor(), null);
                    assertThat(next.events())
                            .allSatisfy(event -> assertThat(event.number()).isGreaterThanOrEqualTo(page.cursor()));
                    assertThat(next.completeFrom())
                            .as("the ring has dropped nothing")
                            .isZero();
                    assertExports(endpoint, context.getBean(FlightRecorder.class));
                    assertRunsInTheLaboratory(context.getBean(FlightRecorder.class), page);
                    assertReadersTakeTurns(endpoint, page);
                });
        assertThat(file).isNotEmptyFile();
    }

    @Test
    void dispatchesAreInTheRecordingAsConfigured() {
        for (int every : new int[] {2, 0}) {
            runner.withPropertyValues("iree.recorder.enabled=true", "iree.recorder.dispatches=" + every)
                    .run(context -> {
                        IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                        try (Program program =
                                context.getBean(IreeRuntime.class).load(TestModules.fixture("3.13.0/cpu/add.vmfb"))) {
                            float[] four = {1, 2, 3, 4};
                            for (int i = 0; i < 4; i++) {
                                program.function("add").invoke(four, four).close();
                            }
                        }
                        List<RecordingDescriptor.Event> events =
                                ((RecordingDescriptor) endpoint.part("recording", null, null)).events();
                        assertThat(events.stream().filter(each -> each.kind().equals("dispatches")))
                                .hasSize(every)
                                .allSatisfy(each -> assertThat(each.values())
                                        .containsEntry("count", 1L)
                                        .containsEntry("timed", true));
                        assertThat(events.stream().filter(each -> each.kind().equals("dispatched")))
                                .hasSize(every)
                                .allSatisfy(each -> assertThat(each.values())
                                        .containsEntry("index", 0L)
                                        .containsEntry("outcome", "ENDED"));
                    });
        }
    }

    @Test
    void theLastPageOfARecordingNamesTheCallsInProgress(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues("iree.recorder.enabled=true", "iree.advanced.recorder.bytes=2MB")
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                    try (Timeline timeline = runtime.createTimeline("upload");
                            Fence one = timeline.at(1);
                            Program program = runtime.load(adder)) {
                        runtime.device().queue(0).barrier(one, null, 0);
                        CompletableFuture<Results> call =
                                program.function("add").call(CallOptions.DEFAULTS.after(one), 1, 2);
                        long id = timeline.semaphore().id();
                        RecordingDescriptor page = (RecordingDescriptor) endpoint.part("recording", null, null);
                        assertThat(page.events())
                                .extracting(RecordingDescriptor.Event::kind)
                                .containsOnly("pools-hold", "submitted", "timeline", "decided");
                        assertThat(page.open())
                                .singleElement()
                                .satisfies(each -> assertThat(each.values()).containsEntry("before", "NO"));
                        assertThat(page.calls()).singleElement().satisfies(each -> {
                            assertThat(each.program()).isEqualTo(program.name());
                            assertThat(each.state()).isEqualTo("BEFORE_INPUTS");
                            assertThat(each.waits())
                                    .extracting(FlightEvent.Point::timeline)
                                    .containsExactly(id);
                        });
                        assertThat(page.timelines()).singleElement().satisfies(each -> {
                            assertThat(each.timeline()).isEqualTo(id);
                            assertThat(each.name()).isEqualTo("upload");
                        });
                        timeline.semaphore().signal(1);
                        call.join().close();
                    }
                });
    }

    @Test
    void recordingIsAbsentUnlessEnabled() {
        runner.run(context -> {
            assertThat(context).doesNotHaveBean(FlightRecorder.class);
            assertThat(context.getBean(IreeEndpoint.class).part("recording", null, null))
                    .isNull();
        });
        runner.withPropertyValues("iree.recorder.enabled=true", "iree.advanced.recorder.bytes=1KB")
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("1024 bytes"));
    }

    private static void assertExports(IreeEndpoint endpoint, FlightRecorder recorder) {
        try (IreeEndpointWebExtension exports = new IreeEndpointWebExtension(endpoint, recorder, false)) {
            for (String format : List.of("iree4j", "perfetto", "otlp", "trace", "problems")) {
                assertThat(exports.export("recording", "export", format))
                        .isInstanceOfSatisfying(
                                WebEndpointResponse.class,
                                each -> assertThat(each.getBody())
                                        .isInstanceOfSatisfying(
                                                ByteArrayResource.class,
                                                file -> assertThat(file.contentLength())
                                                        .isPositive()));
            }
            assertThat(exports.export("recording", "export", "gif")).isNull();
        }
    }

    private static void assertRunsInTheLaboratory(FlightRecorder recorder, RecordingDescriptor page) {
        IreeLabEndpoint laboratory = new IreeLabEndpoint(recorder, false);
        String opened = page.start().toString();
        WebEndpointResponse<String> run = recorded(laboratory, opened, 0L, page.cursor());
        assertThat(run.getStatus()).as(run.getBody()).isEqualTo(200);
        assertThat(run.getBody()).contains("_barrier", "\"violations\": []");
        assertThat(recorded(laboratory, opened, 0L, 16_001L).getBody())
                .contains("records 0 to 16001 are not 1 to 16000 of them");
        assertThat(recorded(laboratory, opened, 9_000L, 9_001L).getBody()).contains("no operations that ended");
        assertRecordsOfAnotherRecorderAreNotMistaken(laboratory, page);
    }

    /** Another process numbers its records alike. */
    private static void assertRecordsOfAnotherRecorderAreNotMistaken(
            IreeLabEndpoint laboratory, RecordingDescriptor page) {
        String before = page.start().minusSeconds(60).toString();
        WebEndpointResponse<String> other = recorded(laboratory, before, 0L, page.cursor());
        assertThat(other.getStatus()).isEqualTo(404);
        assertThat(other.getBody())
                .contains("a recorder that was opened at " + before, "this one was opened at " + page.start());
        WebEndpointResponse<String> unknown = recorded(laboratory, null, 0L, page.cursor());
        assertThat(unknown.getStatus()).isEqualTo(400);
        assertThat(unknown.getBody()).contains("parameter 'recorder' is missing");
    }

    @SuppressWarnings("unchecked") // the result of an endpoint without detaching
    private static WebEndpointResponse<String> recorded(
            IreeLabEndpoint laboratory, @Nullable String recorder, long since, long until) {
        return (WebEndpointResponse<String>)
                laboratory.run(LabScenarios.RECORDED, 2, null, null, null, null, recorder, since, until);
    }

    private static void assertReadersTakeTurns(IreeEndpoint endpoint, RecordingDescriptor page) throws Exception {
        try (ExecutorService readers = Executors.newFixedThreadPool(1 + IreeEndpointWebExtension.MOST_WAITING)) {
            List<Future<OperationResponseBody>> pages = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                pages.add(readers.submit(() -> endpoint.part("recording", null, null)));
            }
            for (Future<OperationResponseBody> each : pages) {
                assertThat(((RecordingDescriptor) each.get()).events())
                        .startsWith(page.events().getFirst());
            }
        }
    }

    @Test
    void beyondAReaderOfTheRecordingAndFourWaitingReadersAreRefused() {
        int taken = 1 + IreeEndpointWebExtension.MOST_WAITING;
        runner.run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            Programs programs = context.getBean(Programs.class);
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch refusals = new CountDownLatch(3);
            List<CompletableFuture<?>> answers = new ArrayList<>();
            try (FlightRecorder recorder = FlightRecorder.open(
                            runtime.device().schedulingDomain(), RecorderOptions.DEFAULTS, () -> timeAfter(end));
                    ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor();
                    AutoCloseable _ = end::countDown) { // also after a failure
                IreeEndpoint endpoint =
                        new IreeEndpoint(runtime, programs, new IreeEvents(), List::of, () -> 0, recorder, List.of());
                for (int i = 0; i < taken + 3; i++) {
                    answers.add(CompletableFuture.supplyAsync(() -> endpoint.part("recording", null, null), readers)
                            .whenComplete((_, fault) -> {
                                if (fault != null) {
                                    refusals.countDown();
                                }
                            }));
                }
                assertThat(refusals.await(2, TimeUnit.MINUTES)).isTrue();
            }
            assertThat(answers)
                    .filteredOn(each -> !each.isCompletedExceptionally())
                    .hasSize(taken);
            assertThat(answers)
                    .filteredOn(CompletableFuture::isCompletedExceptionally)
                    .allSatisfy(each -> assertThat(each.exceptionNow())
                            .hasMessageContaining("1 recording is being read, and 4 requests wait; try again"));
        });
    }

    /** Returns the time; the readers of the test, on virtual threads, wait for the export. */
    private static long timeAfter(CountDownLatch end) {
        if (Thread.currentThread().isVirtual()) {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return System.nanoTime();
    }

    @Test
    void aPendingFutureSignallerIsNamed() {
        runner.run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            try (Timeline first = runtime.createTimeline();
                    Timeline second = runtime.createTimeline();
                    Fence never = first.at(1);
                    Fence between = second.at(5);
                    Fence lower = second.at(4)) {
                runtime.device().queue(0).barrier(never, between, 0);
                runtime.device().queue(0).barrier(lower, null, 0);
                TimelinesDescriptor timelines = (TimelinesDescriptor) endpoint.part("timelines", null, null);
                TimelinesDescriptor.Operation producer = timelines.operations().getFirst();
                assertThat(producer.waits()).singleElement().satisfies(wait -> {
                    assertThat(wait.signaller()).isNull();
                    assertThat(wait.inFlight()).isEmpty();
                });
                TimelinesDescriptor.Operation consumer = timelines.operations().getLast();
                assertThat(consumer.waits()).singleElement().satisfies(wait -> {
                    assertThat(wait.promised()).isFalse();
                    assertThat(wait.signaller()).isEqualTo(new SignallerDescriptor("local/0", "barrier", 0, "", ""));
                });
                assertThat(consumer.waitsFor())
                        .singleElement()
                        .asString()
                        .contains("to reach 4, currently 0; barrier on queue local/0 will signal it and waits");
                first.semaphore().signal(1);
            }
        });
    }

    @Test
    void anOperationWaitingForThePointThroughOthersAndSignallingALaterPointIsNoSignaller() {
        runner.run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            try (Timeline timeline = runtime.createTimeline();
                    Timeline inner = runtime.createTimeline();
                    Fence forgotten = timeline.at(1);
                    Fence between = inner.at(1);
                    Fence later = timeline.at(2)) {
                runtime.device().queue(0).barrier(forgotten, between, 0);
                runtime.device().queue(0).barrier(between, later, 0);
                TimelinesDescriptor timelines = (TimelinesDescriptor) endpoint.part("timelines", null, null);
                TimelinesDescriptor.Operation first = timelines.operations().getFirst();
                assertThat(first.waits())
                        .singleElement()
                        .satisfies(wait -> assertThat(wait.signaller()).isNull());
                assertThat(first.waitsFor())
                        .singleElement()
                        .asString()
                        .endsWith("to reach 1, currently 0; no submitted operation that can run signals it; "
                                + "barrier on queue local/0, which signals 2, waits for it");
                assertThat(timelines.operations().getLast().waitsFor())
                        .singleElement()
                        .asString()
                        .endsWith("barrier on queue local/0 will signal it and waits");
                timeline.semaphore().signal(1);
                later.await();
            }
        });
    }

    @Test
    void anUnlistedSignallerIsNamedToo() {
        runner.run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            DeviceQueue queue = runtime.device().queue(0);
            int listed = TimelinesDescriptor.LISTED;
            try (Timeline begin = runtime.createTimeline();
                    Timeline steps = runtime.createTimeline();
                    Fence never = begin.at(1);
                    Fence done = steps.at(1)) {
                for (int i = 0; i < listed; i++) {
                    queue.barrier(done, null, 0);
                }
                queue.barrier(never, done, 0);
                TimelinesDescriptor timelines = (TimelinesDescriptor)
                        context.getBean(IreeEndpoint.class).part("timelines", null, null);
                assertThat(timelines.waiting()).isEqualTo(listed + 1);
                assertThat(timelines.operations())
                        .hasSize(listed)
                        .allSatisfy(each -> assertThat(each.waitsFor())
                                .singleElement()
                                .asString()
                                .endsWith("barrier on queue local/0 will signal it and waits"));
                begin.semaphore().signal(1);
                done.await();
            }
        });
    }

    @Test
    void anInFlightFutureSignallerIsNamed() {
        runner.run(context -> {
            DeviceQueue queue = context.getBean(IreeRuntime.class).device().queue(0);
            CountDownLatch go = new CountDownLatch(1);
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence done = timeline.at(1)) {
                queue.hostCall(
                        null,
                        done,
                        () -> {
                            try {
                                go.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        0);
                queue.barrier(done, null, 0);
                TimelinesDescriptor timelines = (TimelinesDescriptor)
                        context.getBean(IreeEndpoint.class).part("timelines", null, null);
                assertThat(timelines.operations().getFirst().waits())
                        .singleElement()
                        .satisfies(wait -> assertThat(wait.inFlight()).containsExactly("local/0"));
                assertThat(timelines.operations().getFirst().waitsFor().getFirst())
                        .endsWith("host call on queue local/0 will signal it and is in flight");
                go.countDown();
                done.await();
            }
        });
    }

    @Test
    void aCallDueToSignalAPointIsNamed(@TempDir Path directory) throws Exception {
        runner.withPropertyValues("iree.modules.sums.location=" + TestModules.adder(directory))
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    try (Fence event = context.getBean(IreeRuntime.class).createFence("event")) {
                        Submission<Results> first = invocations
                                .request("sums.add")
                                .inputs(1, 2)
                                .after(event)
                                .submit();
                        Submission<Results> second = invocations
                                .request("sums.add")
                                .inputs(1, 2)
                                .after(first.fence())
                                .submit();
                        TimelinesDescriptor timelines = (TimelinesDescriptor)
                                context.getBean(IreeEndpoint.class).part("timelines", null, null);
                        TimelinesDescriptor.Call signalling = timelines.calls().getFirst();
                        assertThat(signalling.waitsFor())
                                .singleElement()
                                .asString()
                                .endsWith("no submitted operation that can run signals it");
                        assertThat(timelines.calls().getLast().waitsFor())
                                .singleElement()
                                .asString()
                                .endsWith("call %d of sums.add of program 'sums' will signal it and is BEFORE_INPUTS"
                                        .formatted(signalling.id()));
                        assertThat(timelines.calls().getLast().waits())
                                .singleElement()
                                .satisfies(wait -> assertThat(wait.signaller())
                                        .isEqualTo(
                                                new SignallerDescriptor("", "", signalling.id(), "sums", "sums.add")));
                        event.signal();
                        first.await().close();
                        second.await().close();
                    }
                });
    }

    @Test
    void timelinesDescribePendingWork() {
        runner.run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            try (Timeline timeline = runtime.createTimeline();
                    Fence never = timeline.at(7)) {
                runtime.device().queue(0).barrier(never, null, 0);
                TimelinesDescriptor timelines = (TimelinesDescriptor) endpoint.part("timelines", null, null);
                assertThat(timelines.waiting()).isEqualTo(1);
                assertThat(timelines.operations()).singleElement().satisfies(operation -> {
                    assertThat(operation.queue()).isEqualTo("local/0");
                    assertThat(operation.operation()).isEqualTo("barrier");
                    assertThat(operation.waitsFor())
                            .singleElement()
                            .asString()
                            .contains("to reach 7, currently 0")
                            .contains("no submitted operation that can run signals it");
                });
                assertThat(timelines.timelines())
                        .extracting(TimelinesDescriptor.Timeline::value)
                        .containsExactly(0L);
                assertThat(endpoint.iree().waitingOperations()).isEqualTo(1);
                timeline.semaphore().signal(7);
            }
        });
    }

    @Test
    void frontiersNameQueues() {
        runner.withPropertyValues("iree.advanced.frontier.capacity=5").run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            try (Timeline timeline = runtime.createTimeline();
                    Fence one = timeline.at(1)) {
                runtime.device().queue(0).barrier(null, one, 0);
                one.await();
                FrontierDescriptor.All all = (FrontierDescriptor.All) endpoint.part("frontiers", null, null);
                assertThat(all.capacity()).isEqualTo(5);
                assertThat(all.queues()).singleElement().satisfies(queue -> {
                    assertThat(queue.queue()).isEqualTo("local/0");
                    assertThat(queue.completed()).isEqualTo(1);
                    assertThat(queue.tainted()).isFalse();
                });
                assertThat(all.timelines()).singleElement().satisfies(each -> {
                    assertThat(each.value()).isEqualTo(1);
                    assertThat(each.watermark()).isEqualTo(1);
                    assertThat(each.entries())
                            .extracting(FrontierDescriptor.Entry::queue)
                            .containsExactly("local/0");
                });
            }
        });
    }

    @Test
    void taintShowsWindows() {
        runner.run(context -> {
            try (TimelineSemaphore semaphore = TimelineSemaphore.create(0)) {
                semaphore.signalExternal(3);
                TaintDescriptor taint =
                        (TaintDescriptor) context.getBean(IreeEndpoint.class).part("taint", null, null);
                assertThat(taint.windows().getLast().timeline()).isEqualTo(semaphore.id());
                assertThat(taint.windows().getLast().watermark()).isZero();
                assertThat(taint.windows().getLast().recovered()).isNull();
                assertThat(taint.opened()).isGreaterThan(taint.recovered());
            }
        });
    }

    @Test
    void poolsShowUsageByConsumer() {
        runner.withPropertyValues("iree.pools.local.budget=64MB").run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            try (Tensor _ = runtime.upload(Tensor.of(new float[256], 256))) {
                PoolDescriptor pool = (PoolDescriptor) endpoint.one("pools", "local");
                assertThat(pool.budget()).isEqualTo(64 << 20);
                assertThat(pool.live()).isEqualTo(1024);
                assertThat(pool.pools())
                        .extracting(PoolDescriptor.Part::name)
                        .containsExactly("transient", "persistent", "large");
                assertThat(pool.consumers()).containsExactly(new PoolDescriptor.Consumer("", null, 1024, 1024));
            }
        });
    }

    @Test
    void eventsContinueAtTheCursor(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues("iree.modules.adding.location=" + adder).run(context -> {
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            EventsDescriptor first = (EventsDescriptor) endpoint.part("events", null, null);
            assertThat(first.events())
                    .extracting(IreeEvents.Event::type)
                    .containsExactly("program.loading", "program.ready");
            assertThat(((EventsDescriptor) endpoint.part("events", first.cursor(), null)).events())
                    .isEmpty();
            context.getBean(Programs.class).unload("adding", null);
            assertThat(((EventsDescriptor) endpoint.part("events", first.cursor(), null)).events())
                    .extracting(IreeEvents.Event::type)
                    .containsExactly("program.unloaded");
        });
    }

    @Test
    void modulesAreUnloadedLoadedAndWarmed(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues(
                        "iree.modules.adding.location=" + adder,
                        "iree.modules.adding.warm-up[0].function=add",
                        "iree.modules.adding.warm-up[0].inputs=1,2")
                .run(context -> {
                    IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                    Programs programs = context.getBean(Programs.class);
                    endpoint.act("modules", "adding", "unload", null);
                    assertThat(programs.find("adding")).isEmpty();
                    assertThat(endpoint.iree().modules()).containsEntry("adding", ProgramState.UNLOADED);
                    endpoint.act("modules", "adding", "load", "1");
                    endpoint.act("modules", "adding", "warm", null);
                    assertThat(programs.find("adding")).isPresent();
                    endpoint.act("pools", "local", "trim", null);
                    assertThat(endpoint.act("pools", "local", "burn", null).getStatus())
                            .isEqualTo(400);
                    assertThat(endpoint.act("modules", "other", "load", null).getBody())
                            .isEqualTo(new IreeEndpoint.Refusal("there is no 'other' in modules"));
                });
    }

    @Test
    void showsWorkersAndTheirPlacement() {
        runner.withPropertyValues("iree.task.topology=cpus=0 l2=1M; cpus=any", "iree.task.workers=2")
                .run(context -> {
                    TaskDescriptor task =
                            context.getBean(IreeEndpoint.class).iree().task();
                    assertThat(task.workers()).isEqualTo(2);
                    assertThat(task.sleepingWorkers()).isBetween(0, 2);
                    assertThat(task.wakeUp()).isBetween(Duration.ofNanos(1), Duration.ofMillis(1));
                    assertThat(task.affinity()).isFalse();
                    assertThat(task.topology()).containsExactly("cpus=0 l2=1M", "cpus=any");
                });
    }

    @Test
    void absentWhenNotExposed() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(IreeEndpoint.class));
    }

    @Test
    void backsOffWhenUserDefinesTheBean() {
        runner.withUserConfiguration(OwnEndpoint.class)
                .run(context ->
                        assertThat(context).hasSingleBean(IreeEndpoint.class).hasBean("myEndpoint"));
    }

    @Test
    void absentWithoutARuntime() {
        runner.withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeEndpoint.class));
    }

    @Test
    void absentWithoutActuatorOnClasspath() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IreeRuntime.class)
                        .doesNotHaveBean("ireeEndpoint"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnEndpoint {
        @Bean
        IreeEndpoint myEndpoint(IreeRuntime runtime, Programs programs) {
            return new IreeEndpoint(runtime, programs, new IreeEvents(), List::of);
        }
    }
}
