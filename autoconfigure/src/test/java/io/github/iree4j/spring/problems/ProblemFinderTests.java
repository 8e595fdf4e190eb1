package io.github.iree4j.spring.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.local.HostDevice;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;
import org.springframework.core.io.DefaultResourceLoader;

/** Each kind of problem is produced, found, and explained by a row of the table of symptoms in the documentation. */
@Timeout(300)
class ProblemFinderTests {

    /** Everything not over at once has stayed for too long. */
    private static final Duration AT_ONCE = Duration.ZERO;

    private static final int SIZE = 1 << 20;

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.builder()
            .device(
                    "local",
                    "local",
                    DeviceOptions.builder()
                            .memoryLimit(2 * SIZE)
                            .memoryWait(Duration.ofMinutes(5))
                            .memoryHostWait(Duration.ofMinutes(5))
                            .build())
            .taskWorkers(2)
            .build();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final InvocationService invocations = new InvocationService(programs);
    private final ProblemFinder finder = new ProblemFinder(runtime, programs, invocations);

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
    }

    private void load(String name, Path location) {
        programs.load(ProgramSource.of(name, location.toUri().toString()));
    }

    /** The only problem, once present with so much work affected. */
    private <P extends Problem> P only(Class<P> kind, int chain) {
        long start = System.nanoTime();
        while (true) {
            List<Problem> found = finder.find(AT_ONCE);
            assertThat(System.nanoTime() - start)
                    .as("time until there is only a %s with %d lines, but %s", kind.getSimpleName(), chain, found)
                    .isLessThan(Duration.ofSeconds(20).toNanos());
            if (found.size() == 1
                    && kind.isInstance(found.getFirst())
                    && found.getFirst().chain().size() == chain) {
                return kind.cast(found.getFirst());
            }
            Poll.pause();
        }
    }

    /** The documentation has a row for the kind with the endpoint's texts, given in parts. */
    static void assertDocumented(Problem problem, String... parts) throws Exception {
        String row = Files.readAllLines(Path.of("../docs/operations.md")).stream()
                .filter(line -> line.startsWith("| ") && line.contains("`" + problem.kind() + "`"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row for " + problem.kind()));
        for (String part : parts) {
            assertThat(problem.summary()).contains(part);
            assertThat(row).contains(part);
        }
        assertThat(Problem.KINDS).contains(problem.kind());
        assertThat(problem.remedy()).isNotEmpty();
    }

    @Test
    void factsKnownToOthersAreFoundToo() throws Exception {
        RefusedRequests refused = new RefusedRequests(
                "iree.http.max-in-flight-size",
                64_000,
                new RefusedRequests.Held(4, 28_000, 1, 2000, 48_000, 1000),
                Duration.ofSeconds(1),
                Duration.ofSeconds(9));
        List<Problem> known = new ArrayList<>(List.of(refused));
        ProblemFinder all = new ProblemFinder(runtime, programs, invocations, List.of(_ -> List.copyOf(known)));
        assertThat(all.find(AT_ONCE)).containsExactly(refused);
        assertDocumented(refused, "memory for requests is held by", "unread answers", "bodies");
        known.clear();
        assertThat(all.find(AT_ONCE)).isEmpty();
    }

    @Test
    void aFenceDueFromACallIsNotUnsignalled() throws Exception {
        load("sums", TestModules.adder(directory));
        try (Fence event = runtime.createFence("event")) {
            Submission<Results> first =
                    invocations.request("sums.add").inputs(1, 2).after(event).submit();
            Submission<Results> second = invocations
                    .request("sums.add")
                    .inputs(1, 2)
                    .after(first.fence())
                    .submit();
            UnsignalledFence problem = only(UnsignalledFence.class, 2);
            assertThat(problem.subject()).endsWith(" 'event'");
            assertThat(problem.links()).hasSize(4);
            assertThat(problem.links().get(1)).contains("'call of 'sums.add''");
            assertThat(problem.links().get(3)).contains("'event' at 1");
            event.signal();
            first.await().close();
            second.await().close();
        }
    }

    @Test
    void anUnsignalledFenceIsTheRootOfAllItsDirectAndIndirectWaiters() throws Exception {
        load("waiting", TestModules.waiter(directory));
        try (Timeline speech = runtime.createTimeline("speech");
                Timeline copied = runtime.createTimeline("copied");
                Fence spoken = speech.at(7);
                Fence done = copied.at(1)) {
            runtime.device().queue(0).barrier(spoken, done, 0); // waits for speech, and signals copied
            MDC.put("traceId", "4bf92f3577b34da6");
            CompletableFuture<Results> first = invocations.invokeAsync("waiting.wait", done);
            MDC.remove("traceId");
            CompletableFuture<Results> second = invocations.invokeAsync("waiting.wait", done);
            UnsignalledFence problem = only(UnsignalledFence.class, 3);
            assertThat(problem.subject()).startsWith("timeline ").endsWith(" 'speech'");
            assertThat(problem.chain().get(0)).startsWith("barrier on queue local/0");
            assertThat(problem.chain().get(1))
                    .matches(
                            "call of 'waiting.wait' of program 'waiting' \\(id \\d+, trace 4bf92f3577b34da6\\) is SUSPENDED.*")
                    .contains("'copied' to reach 1, currently 0")
                    .contains("barrier on queue local/0 will signal it and waits");
            assertThat(problem.chain().get(2)).contains("is IN_LINE");
            assertThat(problem.links()).hasSize(4);
            assertThat(problem.links().get(0)).matches("call \\d+ of waiting.wait of program 'waiting'");
            assertThat(problem.links().get(1)).matches("timeline \\d+ 'copied' at 1");
            assertThat(problem.links().get(2)).isEqualTo("barrier on local/0");
            assertThat(problem.links().get(3)).matches("timeline \\d+ 'speech' at 7");
            assertDocumented(problem, "nothing that was submitted signals");
            speech.semaphore().signal(7);
            first.join().close();
            second.join().close();
        }
        assertThat(finder.find(AT_ONCE)).isEmpty();
    }

    @Test
    void operationsWaitingForEachOtherAreADeadlockAndNoSignalIsMissing() throws Exception {
        DeviceQueue queue = runtime.device().queue(0);
        try (Timeline one = runtime.createTimeline("one");
                Timeline two = runtime.createTimeline("two");
                Fence first = one.at(1);
                Fence second = two.at(1);
                Fence both = Fence.join(first, second)) {
            queue.barrier(second, first, 0);
            queue.barrier(first, second, 0);
            for (int i = 0; i < 100; i++) {
                queue.barrier(both, null, 0);
            }
            List<Problem> found = finder.find(AT_ONCE);
            assertThat(found).isNotEmpty().allSatisfy(each -> {
                assertThat(each).isInstanceOf(Deadlock.class);
                assertThat(each.subject()).containsAnyOf("'one'", "'two'");
                assertThat(each.chain()).hasSizeLessThanOrEqualTo(50);
            });
            assertThat(found).extracting(each -> ((Deadlock) each).waiting()).anyMatch(waiting -> waiting >= 100);
            assertThat(found.getFirst().links()).hasSize(5).endsWith("the first operation");
            assertThat(found.getFirst().links().subList(0, 4))
                    .allMatch(each -> each.matches("barrier on local/0|timeline \\d+ '(one|two)' at 1"))
                    .anyMatch(each -> each.contains("'one'"))
                    .anyMatch(each -> each.contains("'two'"));
            assertDocumented(found.getFirst(), "wait for each other");
            one.semaphore().fail(IreeException.of(StatusCode.ABORTED, "a deadlock of fences"));
        }
    }

    @Test
    void workWaitingForMemoryOfOtherWorkIsADeadlock() throws Exception {
        DeviceQueue queue = runtime.device().queue(0);
        try (Timeline timeline = runtime.createTimeline("use");
                TimelineSemaphore own = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence there = Fence.at(own, 1);
                Fence freed = Fence.at(own, 2);
                Fence also = Fence.at(own, 3);
                Fence used = timeline.at(1)) {
            BufferParams draft = BufferParams.DEFAULT.withConsumer("draft");
            Buffer held = queue.alloca(null, there, draft, SIZE + SIZE / 2, 0);
            there.await();
            queue.dealloca(used, freed, held, 0);
            Buffer waits = queue.alloca(null, also, draft, SIZE, 0);
            List<Problem> found = List.of();
            while (found.stream().noneMatch(each -> each instanceof MemoryDeadlock)) {
                found = finder.find(AT_ONCE);
            }
            MemoryDeadlock deadlock = (MemoryDeadlock) found.stream()
                    .filter(each -> each instanceof MemoryDeadlock)
                    .findFirst()
                    .orElseThrow();
            assertThat(deadlock.subject()).isEqualTo("device 'local'");
            assertThat(deadlock.awaited()).matches(SIZE + " bytes of pool '.+'");
            assertThat(deadlock.held())
                    .isEqualTo("the limit is %d bytes, and program 'draft' holds %d bytes", 2 * SIZE, SIZE + SIZE / 2);
            assertThat(deadlock.chain())
                    .singleElement()
                    .asString()
                    .contains(", for " + deadlock.awaited() + " held by other work, see 'pools'");
            assertDocumented(deadlock, "wait for memory of", "the limit is", "holds");
            timeline.semaphore().signal(1);
            also.await();
            held.release();
            waits.release();
        }
    }

    @Test
    void workWaitingForMemoryOfOpenResultsHasASlowConsumer() throws Exception {
        List<Tensor> kept = new ArrayList<>();
        kept.add(runtime.upload(Tensor.of(new float[SIZE / 4])));
        kept.add(runtime.upload(Tensor.of(new float[SIZE / 8])));
        DeviceQueue queue = runtime.device().queue(0);
        try (TimelineSemaphore own = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence there = Fence.at(own, 1)) {
            Buffer waits = queue.alloca(null, there, BufferParams.DEFAULT, SIZE, 0);
            SlowConsumer problem = only(SlowConsumer.class, 1);
            assertThat(problem.openTensors()).isEqualTo(2);
            assertThat(problem.kept()).isEqualTo(SIZE + SIZE / 2);
            assertThat(problem.awaited()).startsWith(SIZE + " bytes of pool ");
            assertDocumented(problem, "open tensors keep");
            kept.forEach(Tensor::close);
            there.await();
            waits.release();
        }
    }

    /** A call that might submit work ahead of its fence is not admitted before the fence: the need is not known. */
    @Test
    void aFirstCallAheadOfItsFenceHangsOnTheFenceAndMemoryIsNoProblem() throws Exception {
        load("adding", TestModules.fixture("3.13.0/cpu-async/add.vmfb"));
        try (Timeline timeline = runtime.createTimeline("weights-copied");
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> call = addAfter(never);
            UnsignalledFence problem = only(UnsignalledFence.class, 1);
            assertThat(problem.subject()).endsWith(" 'weights-copied'");
            assertThat(problem.chain().getFirst())
                    .contains(" is FOR_ADMISSION for ")
                    .contains("'weights-copied' to reach 1, currently 0");
            never.signal();
            call.join().close();
        }
        assertThat(finder.find(AT_ONCE)).isEmpty();
    }

    private CompletableFuture<Results> addAfter(Fence fence) {
        Tensor four = Tensor.of(new float[] {1, 2, 3, 4}, 4);
        return invocations.request("adding.add").inputs(four, four).after(fence).invokeAsync();
    }

    /** The first has held nothing for a second by then, and the other begins beside it. */
    @Test
    void firstCallsBeginningOneAfterTheOtherAreNoDeadlock() throws Exception {
        load("waiting", TestModules.waiter(directory));
        load("other", TestModules.waiter(directory));
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> first = invocations.invokeAsync("waiting.wait", never);
            CompletableFuture<Results> second = invocations.invokeAsync("other.wait", never);
            List<Problem> found = new ArrayList<>();
            while (finder.calls().stream().anyMatch(each -> each.call().state() != PendingCall.State.SUSPENDED)) {
                found.addAll(finder.find(AT_ONCE));
            }
            assertThat(found).noneMatch(each -> each instanceof MemoryDeadlock || each instanceof SlowConsumer);
            UnknownNeed problem = (UnknownNeed) found.stream()
                    .filter(each -> each instanceof UnknownNeed)
                    .findFirst()
                    .orElseThrow();
            assertThat(problem.chain()).singleElement().asString().contains(" is FOR_ADMISSION for ");
            assertDocumented(problem, "wait to be admitted to memory of", "is not known before a similar call");
            timeline.semaphore().signal(1);
            first.join().close();
            second.join().close();
        }
    }

    @Test
    void aLostDeviceNamesItsPrograms() throws Exception {
        load("adding", TestModules.adder(directory));
        ((HostDevice) runtime.device()).lose(IreeException.of(StatusCode.ABORTED, "fell off the bus"));
        LostDevice problem = only(LostDevice.class, 1);
        assertThat(problem.chain()).containsExactly("program 'adding' runs on it");
        assertDocumented(problem, "was lost");
    }

    @Test
    void aFileOverwrittenDuringItsUseInPlaceIsReportedUntilTheProgramIsLoadedAgain() throws Exception {
        Path weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        programs.load(ProgramSource.builder(
                        "weighing",
                        TestModules.fixture("3.13.0/cpu/weights.vmfb").toUri().toString())
                .parameters(Map.of("model", List.of(weights.toUri().toString())))
                .build());
        assertThat(finder.find(AT_ONCE)).isEmpty();
        Files.write(weights, new byte[1], StandardOpenOption.APPEND);
        ChangedFile problem = only(ChangedFile.class, 0);
        assertThat(problem.subject()).isEqualTo("program 'weighing'");
        assertThat(problem.cause()).contains("weights.irpa").contains("load the program again");
        assertDocumented(problem, "was changed while in use");
        programs.load("weighing", null);
        assertThat(finder.find(AT_ONCE)).isEmpty();
    }

    @Test
    void workBehindAnEndlessKernelStarves() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        DeviceQueue queue = runtime.device().queue(0);
        try (Timeline timeline = runtime.createTimeline("kernel");
                Fence done = timeline.at(1)) {
            queue.hostCall(null, done, () -> await(go), 0);
            queue.barrier(done, null, 0);
            StarvedQueue problem = only(StarvedQueue.class, 1);
            assertThat(problem.subject()).isEqualTo("host call on queue local/0");
            assertDocumented(problem, "does not advance");
            go.countDown();
            done.await();
        }
    }

    private static void await(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void anEndlessCallIsTheRootOfItsLine() throws Exception {
        load("spinning", TestModules.spinner(directory));
        CompletableFuture<Results> call = invocations.invokeAsync("spinning.spin");
        CompletableFuture<Results> behind = invocations.invokeAsync("spinning.spin");
        EndlessCall problem = only(EndlessCall.class, 2);
        assertThat(problem.subject()).isEqualTo("call of 'spinning.spin' of program 'spinning'");
        assertDocumented(problem, "are in line behind it");
        assertThat(problem.remedy())
                .contains("it has no deadline: set iree.invocation.timeout")
                .contains("/actuator/iree/calls/%d with {\"action\":\"cancel\"}".formatted(problem.call()));
        assertThat(problem.chain().getFirst()).contains("(id %d)".formatted(problem.call()));
        behind.cancel(true);
        assertThat(runtime.programs().getFirst().monitor().cancelCall(problem.call()))
                .isTrue();
        assertThat(call).failsWithin(Duration.ofMinutes(1));
    }

    @Test
    void aCallOfAnUnloadedProgramIsListedUnderItsName() throws Exception {
        load("spinning", TestModules.spinner(directory));
        CompletableFuture<Results> call = invocations.invokeAsync("spinning.spin");
        programs.unload("spinning");
        assertThat(only(EndlessCall.class, 1).subject()).isEqualTo("call of 'spinning.spin' of program 'spinning'");
        call.cancel(true);
    }

    /** The call has been there for longer than the patience, and the calls behind have not. */
    @Test
    void newcomersInLineAreBehindALongCall() throws Exception {
        load("spinning", TestModules.spinner(directory));
        CompletableFuture<Results> call = invocations.invokeAsync("spinning.spin");
        Duration age = Duration.ZERO;
        while (age.compareTo(Duration.ofSeconds(4)) < 0) {
            age = finder.calls().stream()
                    .map(each -> each.call().unchanged())
                    .findFirst()
                    .orElse(Duration.ZERO);
        }
        List<CompletableFuture<Results>> behind =
                List.of(invocations.invokeAsync("spinning.spin"), invocations.invokeAsync("spinning.spin"));
        while (finder.calls().stream()
                        .filter(each -> each.call().state() == PendingCall.State.IN_LINE)
                        .count()
                != 2) { // calls of unknown need wait to be alone first
            Poll.pause();
        }
        assertThat(finder.find(Duration.ofSeconds(4))).singleElement().satisfies(each -> {
            assertThat(each.summary()).contains("2 are in line behind it");
            assertThat(each.chain()).hasSize(3);
        });
        behind.forEach(each -> each.cancel(true));
        call.cancel(true);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void adviceForACallWithADeadlineIsToLowerTheDeadlineOfLaterCalls(boolean isConfigured) throws Exception {
        if (isConfigured) {
            programs.setCallTimeouts(Duration.ofHours(1), Map.of());
        }
        load("spinning", TestModules.spinner(directory));
        InvocationSpec spec = invocations.request("spinning.spin");
        CompletableFuture<Results> call = (isConfigured ? spec : spec.timeout(Duration.ofHours(1))).invokeAsync();
        assertThat(only(EndlessCall.class, 1).remedy())
                .contains("a lower iree.invocation.timeout ends later calls sooner");
        call.cancel(true);
    }

    @Test
    void unclosedTensorsAreALeakOfTheirProgram() throws Exception {
        forget();
        List<Problem> found = List.of();
        while (found.isEmpty()) {
            System.gc();
            found = finder.find(Duration.ofMinutes(1));
        }
        assertThat(found)
                .singleElement()
                .isInstanceOfSatisfying(
                        Leak.class, leak -> assertThat(leak.count()).isEqualTo(1));
        assertDocumented(found.getFirst(), "were never closed");
    }

    private void forget() {
        runtime.upload(Tensor.of(new float[16]));
    }

    @Test
    void youngWorkIsNoProblem() throws Exception {
        load("waiting", TestModules.waiter(directory));
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> call = invocations.invokeAsync("waiting.wait", never);
            assertThat(finder.find(Duration.ofMinutes(5))).isEmpty();
            timeline.semaphore().signal(1);
            call.join().close();
        }
    }
}
