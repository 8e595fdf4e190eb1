package io.github.iree4j.spring.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.monitor.PendingCall.State;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.vm.asm.VmAssembler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.DefaultResourceLoader;

/** The time of a call in line counts against the line until a call gets the turn, and against this call from then on. */
@Timeout(120)
class CallsInLineTests {

    /** The first function waits for a fence, the other does not return. */
    private static final String MODULE = """
            vm.module @line version 0
            vm.type i32
            vm.type i64
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"

            vm.export @wait
            vm.func @wait(%r0: !hal.fence) -> (i32) {
            ^entry:
              %i0 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i0 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i0, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i0
            }

            vm.export @spin
            vm.func @spin() -> () {
            ^entry:
              vm.br ^entry
            }
            """;

    /** More than the tenth of a second, the precision of reported times. */
    private static final Duration LONG = Duration.ofMillis(300);

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final InvocationService invocations = new InvocationService(programs);
    private final ProblemFinder finder = new ProblemFinder(runtime, programs, invocations);

    @BeforeEach
    void load() throws Exception {
        Path module = Files.write(directory.resolve("line.vmfb"), VmAssembler.assemble(MODULE));
        programs.load(ProgramSource.of("busy", module.toUri().toString()));
    }

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
    }

    /** The call with the turn, and the last in line. */
    private record Ends(PendingCall holder, PendingCall last) {
        /** Half of the last call's time in line before the turn was given: looks tell slightly other times. */
        Duration patience() {
            return last.unchanged().minus(holder.unchanged()).dividedBy(2);
        }
    }

    /** Returns once so many calls are in line, for so long, behind a call of the function. */
    private Ends await(String holder, int inLine, Duration age) {
        while (true) {
            List<PendingCall> calls =
                    finder.calls().stream().map(ActiveCall::call).toList();
            if (calls.size() == inLine + 1) {
                PendingCall first = calls.getFirst();
                PendingCall last = calls.getLast();
                if ((first.state() == State.RUNNING || first.state() == State.SUSPENDED)
                        && first.function().equals(holder)
                        && calls.stream()
                                        .filter(call -> call.state() == State.IN_LINE)
                                        .count()
                                == inLine
                        && last.unchanged().compareTo(age) >= 0) {
                    return new Ends(first, last);
                }
            }
            assertThat(Thread.currentThread().isInterrupted()).as("time is up").isFalse();
            Poll.pause();
        }
    }

    @Test
    void aLineBehindAPossiblyEndlessCallIsNoSeparateProblem() {
        try (Timeline timeline = runtime.createTimeline("turn");
                Fence turn = timeline.at(1);
                Fence never = timeline.at(2)) {
            CompletableFuture<Results> before = invocations.invokeAsync("busy.wait", turn);
            CompletableFuture<Results> endless = invocations.invokeAsync("busy.spin");
            CompletableFuture<Results> behind = invocations.invokeAsync("busy.wait", never);
            await("busy.wait", 2, LONG);
            timeline.semaphore().signal(1);
            before.join().close();
            Ends ends;
            List<Problem> found;
            do {
                ends = await("busy.spin", 1, LONG);
                found = finder.find(ends.last.unchanged());
            } while (await("busy.spin", 1, LONG).holder.unchanged().compareTo(ends.last.unchanged()) >= 0);
            assertThat(found)
                    .as("before the call with the turn has taken too long")
                    .isEmpty();
            assertThat(finder.find(ends.holder.unchanged())).singleElement().satisfies(each -> {
                assertThat(each).isInstanceOf(EndlessCall.class);
                assertThat(each.chain()).hasSize(2);
                String runs = each.chain().getFirst().replaceAll(".* is RUNNING for ", "");
                assertThat(runs).matches("\\d+(\\.\\d)? s");
                assertThat(each.summary()).contains(" runs for " + runs + "; 1 are in line behind it");
                assertThat(each.chain().getLast()).containsPattern(" is IN_LINE for \\d+(\\.\\d)? s, for its turn");
            });
            behind.cancel(true);
            endless.cancel(true);
        }
    }

    @Test
    void aLineAlreadyLongBeforeTheTurnIsAProblem() {
        try (Timeline timeline = runtime.createTimeline("turns")) {
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int turn = 1; turn <= 6; turn++) {
                try (Fence fence = timeline.at(turn)) {
                    calls.add(invocations.invokeAsync("busy.wait", fence));
                }
            }
            await("busy.wait", 5, LONG);
            Ends ends;
            List<Problem> found;
            int inLine = 5;
            do { // until a call is fast enough
                assertThat(--inLine).isPositive();
                timeline.semaphore().signal(5 - inLine);
                ends = await("busy.wait", inLine, LONG);
                found = finder.find(ends.patience());
            } while (await("busy.wait", inLine, LONG).holder.unchanged().compareTo(ends.patience()) >= 0);
            int waiting = inLine;
            assertThat(found).singleElement().satisfies(each -> {
                assertThat(each).isInstanceOf(StarvedQueue.class);
                assertThat(each.subject()).isEqualTo("line of program 'busy'");
                assertThat(each.chain()).hasSize(waiting);
            });
            timeline.semaphore().signal(6);
            calls.forEach(call -> call.join().close());
        }
    }
}
