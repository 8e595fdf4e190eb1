package io.github.iree4j.lab;

import static io.github.iree4j.lab.WaitKnowledge.EVENTS;
import static io.github.iree4j.lab.WaitKnowledge.FRONTIERS;
import static io.github.iree4j.lab.WaitKnowledge.TIMELINES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.Effort;
import io.github.iree4j.lab.Scenario.Placement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Claims about the worth of frontiers, as in docs/comparisons.md: the page is generated, and the conclusions are
 * checked.
 */
class ComparisonTest {
    private static final Path PAGE = Path.of("..", "docs", "comparisons.md");

    private static final LabOptions OPTIONS = LabOptions.DEFAULTS.withHostDelay(1);

    /** A section of the page: a claim, the measurements, and a conclusion with its underlying facts. */
    private record Section(
            String title,
            String claim,
            String scenario,
            Scale scale,
            List<Fault> faults,
            String conclusion,
            Consumer<Comparison> facts) {
        Section(
                String title,
                String claim,
                String scenario,
                Scale scale,
                String conclusion,
                Consumer<Comparison> facts) {
            this(title, claim, scenario, scale, List.of(), conclusion, facts);
        }

        Comparison measure() {
            return Comparison.of(read(), OPTIONS.withScale(scale).withFaults(faults));
        }

        private Scenario read() {
            if (!scenario.endsWith(".yaml")) {
                return Laboratory.scenario(scenario);
            }
            Path file = Path.of("..", scenario);
            assumeTrue(Files.isRegularFile(file), "docs is not beside this module");
            try {
                return Laboratory.read(Files.readString(file));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** The arguments of {@code lab compare}. */
        String arguments() {
            return scenario
                    + (scale.width() > 1 ? " --width=" + scale.width() : "")
                    + (scale.depth() > 1 ? " --depth=" + scale.depth() : "")
                    + (faults.isEmpty()
                            ? ""
                            : " --fault=reject:" + faults.getFirst().target());
        }
    }

    private static void same(Comparison of, ToLongFunction<Comparison.Way> figure) {
        assertThat(of.ways().stream().mapToLong(figure).distinct().count()).isEqualTo(1);
    }

    private static final List<Section> SECTIONS = List.of(
            new Section(
                    "One queue",
                    "The order of a queue is enough: frontiers add neither cost nor benefit.",
                    "sequential",
                    Scale.ONE,
                    "**Borne out, but for bytes.** No way needs an event or a wait. A frontier is the largest of the three.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::waits);
                        same(c, Comparison.Way::knownOrder);
                        c.ways().forEach(each -> {
                            assertThat(each.records()).isZero();
                            assertThat(each.waits()).isZero();
                        });
                        assertThat(c.way(FRONTIERS).trackingBytes())
                                .isGreaterThan(c.way(EVENTS).trackingBytes());
                    }),
            new Section(
                    "Two queues of one device",
                    "Events work; frontiers pass on the producer's knowledge.",
                    "cross-queue",
                    Scale.ONE,
                    "**Borne out.** A single wait in every way; only frontiers know the order of operations without"
                            + " waits for each other.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::waits);
                        assertThat(c.way(FRONTIERS).knownOrder())
                                .isGreaterThan(c.way(TIMELINES).knownOrder());
                    }),
            new Section(
                    "Fork and join",
                    "With events a join needs as many waits as there are branches; with frontiers the work behind the"
                            + " join needs a single wait.",
                    "fork-join",
                    new Scale(1, 2, 0),
                    "**In part.** The join waits for each branch of another queue in every way: frontiers save no wait"
                            + " there, nor behind the join, where a single queue's order suffices. Frontiers add the"
                            + " order of all branches, in a single vector.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::waits);
                        assertThat(c.way(FRONTIERS).knownOrder())
                                .isGreaterThan(c.way(TIMELINES).knownOrder());
                    }),
            new Section(
                    "Knowledge passing through a device",
                    "With events the application must pass on every dependency itself.",
                    "transitive",
                    Scale.ONE,
                    "**Borne out for waits, not for events.** Frontiers drop a wait implied by another wait, which a"
                            + " queue remembering awaited places cannot do, and a repeated wait, dropped by such a queue"
                            + " as well. The awaited places, and so the events, are the same in every way. Time is not"
                            + " saved where a wait costs the hardware nothing, as here.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        assertThat(c.way(FRONTIERS).waits())
                                .isLessThan(c.way(EVENTS).freshWaits());
                        assertThat(c.way(EVENTS).freshWaits())
                                .isLessThan(c.way(EVENTS).waits());
                    }),
            new Section(
                    "Work submitted before its producers",
                    "With events a scheduler must ask the client, or have the whole graph; with frontiers the"
                            + " scheduler pipelines the work at once.",
                    "submit-before-wait",
                    Scale.ONE,
                    "**In part.** With events the join waits on the host, and the host's delay is paid once: the"
                            + " operations behind the join follow by the order of the queue, as on any stream. But"
                            + " plain timelines do as well as frontiers. And nothing is free of the host: in every"
                            + " way, the scheduler holds the join back until the producers are submitted, to keep"
                            + " hardware from waiting for a signal that may never come.",
                    c -> {
                        assertThat(c.way(EVENTS).pipelined())
                                .isLessThan(c.way(TIMELINES).pipelined());
                        assertThat(c.way(EVENTS).makespan())
                                .isEqualTo(c.way(TIMELINES).makespan() + OPTIONS.hostDelay());
                        assertThat(c.way(FRONTIERS).makespan())
                                .isEqualTo(c.way(TIMELINES).makespan());
                        assertThat(c.way(FRONTIERS).pipelined())
                                .isEqualTo(c.way(TIMELINES).pipelined());
                        c.ways().forEach(each -> assertThat(each.heldBack()).isPositive());
                    }),
            new Section(
                    "Memory read by many operations",
                    "With events a buffer is tracked by an event for each use; a death frontier has a constant size.",
                    "buffer-reuse",
                    Scale.ONE,
                    "**In part.** Tracking by events grows with uses, and a frontier does not: a frontier grows with"
                            + " the queues in the past of the uses, up to 12 entries. But sixteen references take"
                            + " fewer bytes than the frontier; from 21 uses on, or with the events themselves, a frontier"
                            + " is smaller. Points of timelines, for the queues of the uses alone, are as small as the"
                            + " references. Of the dropped waits for layers all repeat a wait of the same queue: a queue"
                            + " remembering awaited places does as well without frontiers. The pool is real. The weights"
                            + " are freed on another queue than the allocating queue, and only with frontiers does the"
                            + " release provably follow the allocation: then the next weights get the memory at once, and"
                            + " the hardware waits. Otherwise the memory is free once the release has run, and the host"
                            + " holds two operations back.",
                    c -> {
                        same(c, Comparison.Way::freshWaits);
                        assertThat(c.way(EVENTS).trackingBytes())
                                .isEqualTo(TrackingBytes.events(16))
                                .isEqualTo(c.way(TIMELINES).trackingBytes())
                                .isLessThan(c.way(FRONTIERS).trackingBytes());
                        assertThat(TrackingBytes.events(20))
                                .isEqualTo(c.way(FRONTIERS).trackingBytes());
                        assertThat(c.way(TIMELINES).waits() - c.way(TIMELINES).freshWaits())
                                .isEqualTo(14);
                        memoryIsPassedOnWithFrontiersOnly(c);
                        c.ways().stream()
                                .filter(each -> each.knowledge() != FRONTIERS)
                                .forEach(each -> assertThat(each.heldBack()).isEqualTo(2));
                    }),
            new Section(
                    "Independent workloads on one device",
                    "With events, shared memory pools couple workloads by accident; disjoint frontiers never"
                            + " interfere, and memory freed by a workload is at once free for the other.",
                    "independent",
                    new Scale(2, 1, 0),
                    "**Not borne out.** On a shared queue unrelated operations are ordered just as much in every way:"
                            + " the queue orders the operations, not the tracking. With placement `lanes` there are"
                            + " none in any way. Nor does the absence of an axis in a frontier prove memory free: the"
                            + " memory is free once the other workload's operations have completed, as looked up by"
                            + " the runtime ([memory](memory.md)), or after a wait for the completion.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::strangers);
                        assertThat(c.way(FRONTIERS).strangers()).isPositive();
                    }),
            new Section(
                    "Memory of independent workloads",
                    "Disjoint frontiers never interfere: memory freed by a workload is at once free for the other.",
                    "scratch-memory",
                    Scale.ONE,
                    "**Not borne out.** The pool is a real pool of the runtime, and every allocation may wait for the"
                            + " last users of memory. The workloads take turns in every way: an allocation behind"
                            + " a stranger waits for the stranger, whatever the tracking. Frontiers know afterwards"
                            + " that the stranger precedes, and drop the implied waits: half of the waits between the"
                            + " queues, and of the places waited for.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::reusedAtOnce);
                        same(c, Comparison.Way::reusedAfterWait);
                        same(c, Comparison.Way::strangers);
                        assertThat(c.way(FRONTIERS).reusedAfterWait()).isPositive();
                        assertThat(2 * c.way(FRONTIERS).freshWaits())
                                .isEqualTo(c.way(EVENTS).freshWaits());
                        assertThat(2 * c.way(FRONTIERS).records())
                                .isEqualTo(c.way(EVENTS).records());
                    }),
            new Section(
                    "Memory contended for by requests",
                    "With frontiers, requests sharing too small a pool wait less for each other.",
                    "shared-pool",
                    new Scale(2, 1, 0),
                    "**Not borne out.** Four requests need six units each of a real pool of eight, so three requests get"
                            + " memory by waiting for the last user, in every way, and take equally long. Frontiers have"
                            + " fewer waits and checks together than events: with events the host holds operations"
                            + " back, and then finds the other waits of these ended, each a check. Plain timelines"
                            + " repeat waits, and a queue remembering awaited places would drop these.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::records);
                        same(c, Comparison.Way::freshWaits);
                        same(c, Comparison.Way::reusedAfterWait);
                        assertThat(c.way(FRONTIERS).reusedAfterWait()).isEqualTo(3);
                        assertThat(c.way(FRONTIERS).waits() + c.way(FRONTIERS).hostChecks())
                                .isLessThan(
                                        c.way(EVENTS).waits() + c.way(EVENTS).hostChecks());
                        assertThat(c.way(EVENTS).hostChecks())
                                .isGreaterThan(c.way(FRONTIERS).hostChecks());
                        assertThat(c.way(TIMELINES).waits())
                                .isGreaterThan(c.way(FRONTIERS).waits());
                    }),
            new Section(
                    "Memory passing between queues",
                    "With frontiers, memory is given away before its last user has ended.",
                    "memory-pressure",
                    Scale.ONE,
                    "**Borne out.** An image needs the memory of a chat, from a real pool with room for either. The cache"
                            + " is freed on the queue that copies the cache to the host, not on the allocating queue."
                            + " With frontiers everything is with the hardware at once, which waits instead of the host;"
                            + " without, the host holds operations back for memory, and then others for these. With"
                            + " events the host's delay is paid once, behind an operation held back. Timelines lose no"
                            + " time here, since the pool learns of a release when the hardware has run it, without"
                            + " the host's delay.",
                    c -> {
                        memoryIsPassedOnWithFrontiersOnly(c);
                        assertThat(c.way(FRONTIERS).waits())
                                .isGreaterThan(c.way(TIMELINES).waits());
                        assertThat(c.way(FRONTIERS).pipelined())
                                .isGreaterThan(c.way(TIMELINES).pipelined());
                    }),
            new Section(
                    "Speculation",
                    "With events nothing distinguishes speculative work from verified work; with frontiers the"
                            + " verifier's axis does.",
                    "spec-decode",
                    new Scale(1, 2, 0),
                    "**Borne out.** The schedule is the same in every way. Only frontiers show for every operation"
                            + " whether the operation follows the verifier: the first drafts do not; the drafts of the"
                            + " second round do, following the output of the first round.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::waits);
                        assertThat(unverified(FRONTIERS)).containsExactly("prefill", "draft_r1", "draft_r2");
                        assertThat(unverified(TIMELINES)).contains("draft_r1/1.2");
                    }),
            new Section(
                    "Cancelled speculation",
                    "Frontiers show which operations to cancel when a draft is wrong.",
                    "docs/draft-ahead.yaml",
                    Scale.ONE,
                    List.of(Fault.parse("reject:verify_1")),
                    "**In part.** The first verification rejects its draft. A scope of speculation"
                            + " ([using](using.md#speculation)) cancels the same operations in every way, since"
                            + " the scope follows waits and the order of the draft's queue, not frontiers. Half of the"
                            + " cancelled operations never begin: the host had not submitted their round. Work"
                            + " given to a stream runs all the same, and so work far ahead costs the same"
                            + " hardware in every way. With frontiers alone to go by, a runtime would find three"
                            + " of the four cancelled operations on the hardware (the fourth, the verification of a"
                            + " later draft, follows the first verification too), and without frontiers only the"
                            + " draft's own; but"
                            + " the frontiers mark another request too, which shares no timeline with the draft and"
                            + " merely runs behind the draft on a queue. This request survives: waits are the better"
                            + " criterion.",
                    c -> {
                        same(c, Comparison.Way::makespan);
                        same(c, Comparison.Way::cancelled);
                        same(c, Comparison.Way::neverBegun);
                        same(c, Comparison.Way::wastedTicks);
                        assertThat(c.way(EVENTS).cancelled())
                                .isEqualTo(2 * c.way(EVENTS).neverBegun())
                                .isPositive();
                        assertThat(c.way(EVENTS).wastedTicks()).isPositive();
                        assertThat(c.way(EVENTS).markedCancelled()).isEqualTo(1);
                        assertThat(c.way(TIMELINES).markedCancelled()).isEqualTo(1);
                        assertThat(c.way(FRONTIERS).markedCancelled()).isEqualTo(3);
                        assertThat(c.way(EVENTS).markedOthers()).isZero();
                        assertThat(c.way(FRONTIERS).markedOthers()).isEqualTo(1);
                    }),
            new Section(
                    "Pipelining behind a wait",
                    "Work given to the hardware before the inputs exist is never slower than work waiting on the host.",
                    "checkpoint-paging",
                    new Scale(2, 3, 0),
                    "**Not borne out.** A queue given an operation early cannot run anything behind the operation"
                            + " until the wait has ended. If operations of two workloads meet on a queue, a host"
                            + " holding back an operation lets the other operation pass. More queues, or lanes taking"
                            + " ready operations, avoid the delay in every way.",
                    c -> {
                        assertThat(c.way(EVENTS).makespan())
                                .isLessThan(c.way(FRONTIERS).makespan());
                        assertThat(c.way(EVENTS).pipelined())
                                .isLessThan(c.way(FRONTIERS).pipelined());
                        LabOptions scaled = OPTIONS.withScale(new Scale(2, 3, 0));
                        Scenario scenario = Laboratory.scenario("checkpoint-paging");
                        assertThat(Laboratory.run(scenario, scaled).finalTick())
                                .as("with placement lanes")
                                .isLessThan(c.way(EVENTS).makespan());
                    }));

    private static void memoryIsPassedOnWithFrontiersOnly(Comparison c) {
        assertThat(c.way(FRONTIERS).heldBack()).isZero();
        assertThat(c.way(FRONTIERS).hostChecks()).isZero();
        assertThat(c.way(FRONTIERS).reusedAtOnce()).isZero();
        assertThat(c.way(TIMELINES).heldBack()).isPositive();
        assertThat(c.way(TIMELINES).reusedAtOnce()).isEqualTo(1);
        assertThat(c.way(EVENTS).heldBack()).isPositive();
        assertThat(c.way(FRONTIERS).makespan()).isEqualTo(c.way(TIMELINES).makespan());
        assertThat(c.way(EVENTS).makespan()).isEqualTo(c.way(FRONTIERS).makespan() + OPTIONS.hostDelay());
    }

    /** Operations with a frontier without the verifier's timeline. */
    private static List<String> unverified(WaitKnowledge knowledge) {
        LabResult result = Laboratory.run(
                Laboratory.scenario("spec-decode").withPlacement(Placement.LANES),
                OPTIONS.withScale(new Scale(1, 2, 0)).withKnowledge(knowledge));
        return result.operations().stream()
                .filter(each -> each.frontier().keySet().stream().noneMatch(name -> name.startsWith("V")))
                .map(each -> each.operation().id())
                .toList();
    }

    private static final String HEAD = """
            # Events, timelines and frontiers, measured

            This page is generated by `ComparisonTest` from runs in the [laboratory](lab.md); the test also checks the
            facts behind each conclusion, and `-Diree4j.docs.update=true` writes the page.
            `bin/iree4j lab compare SCENARIO` prints the table of any scenario.

            The same scheduler runs each scenario three times on virtual devices, each lane a queue running operations
            in order; the host learns of an end a tick late. **Events**: only the order of a queue implies a wait, and
            there is nothing to wait for until the producer is on a queue: until then the host holds the operation back,
            and, without any notice of a recording, waits for the producer's end. Operations of a queue are submitted
            in the order of the waits, as to any stream. **Timelines**: the same, but the hardware can wait for a
            promised value, and the order of submission is free. **Frontiers**: a wait implied by the queue, or by
            another wait, is dropped. A wait costs virtual hardware no time, so fewer waits show as such and not as a
            shorter makespan.

            Every row counts the same things in each way, and all but bytes and unrelated pairs are read off the runs.
            *Places waited for* are places on a queue waited for by another queue, or checked or waited for by the host
            for an operation of another queue, or for its memory: each needs an event, or a value of a timeline. *Waits
            without repetitions* leave out waits for a place already awaited by the same queue, or for an earlier place
            of the same other queue: a queue remembering awaited places, without frontiers, makes no others. *Pipelined*
            operations are with the hardware before the inputs exist. *Bytes of tracking* are the objects on the heap
            showing when a buffer is free: an array with a reference to an event for each use, without the events;
            points, a timeline and a value for each using queue; or the frontier of the uses. `TrackingBytesTest`
            allocates these objects and finds the printed bytes, within a byte ([lab](lab.md#bytes-of-tracking)). A pair
            is unrelated when no chain of timelines links the workloads; the order of queues and waits counts, the order
            made by memory does not. *Cancelled* operations fail because of a rejected draft, or because of a wait for
            such an operation; a frontier *marks* an operation as speculative by mentioning the draft and not the
            verification.

            In short: frontiers are worth the bytes where waits are implied by waits of *other* queues (4), where memory
            makes an order named by no wait (8), where memory freed on another queue is given away early (6, 10), and
            where the past of an operation is asked for (2, 3, 11), as by `explain` and the console. Frontiers are not
            worth the bytes on a single queue (1), where a queue could drop only waits for places already awaited by the
            queue (6, 9), where work has to be submitted early (5, 13), for keeping workloads apart (7, 8), or for
            deciding which operations to cancel (12): there, the order of queues, timelines, or a queue remembering
            awaited places do as well.
            """;

    private static String page() {
        StringBuilder page = new StringBuilder(HEAD);
        int number = 1;
        for (Section each : SECTIONS) {
            page.append("\n## %d. %s\n\n".formatted(number++, each.title))
                    .append(wrapped("The claim: " + each.claim + " (`" + each.arguments() + "`)"))
                    .append('\n')
                    .append(each.measure().toTable())
                    .append('\n')
                    .append(wrapped(each.conclusion));
        }
        return page.toString();
    }

    private static String wrapped(String text) {
        StringBuilder lines = new StringBuilder();
        int column = 0;
        for (String word : text.split(" ")) {
            if (column > 0 && column + 1 + word.length() > 119) {
                lines.append('\n');
                column = 0;
            } else if (column > 0) {
                lines.append(' ');
                column++;
            }
            lines.append(word);
            column += word.length();
        }
        return lines.append('\n').toString();
    }

    @Test
    void thePageMatchesRuns() throws IOException {
        assumeTrue(Files.isDirectory(PAGE.getParent()), "docs is not beside this module");
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(PAGE, page());
        }
        assertThat(Files.readString(PAGE))
                .as("%s; update with -Diree4j.docs.update=true", PAGE)
                .isEqualTo(page());
    }

    @TestFactory
    Stream<DynamicTest> eachConclusionRestsOnFacts() {
        return SECTIONS.stream()
                .map(each -> DynamicTest.dynamicTest(each.title, () -> each.facts.accept(each.measure())));
    }

    /** As the head of the page says. */
    @TestFactory
    Stream<DynamicTest> asManyPlacesAreWaitedForInEveryWayUnlessMemoryOrders() {
        return SECTIONS.stream()
                .filter(each -> !each.scenario.equals("scratch-memory"))
                .map(each -> DynamicTest.dynamicTest(each.title, () -> same(each.measure(), Comparison.Way::records)));
    }

    /** Whatever the knowledge, the same operations run with the same dependencies, and nothing starts early. */
    @Test
    void everyWayRunsEveryScenarioCorrectly() {
        for (Scenario scenario : Laboratory.scenarios()) {
            for (Placement placement : Placement.values()) {
                LabResult frontiers = run(scenario, placement, FRONTIERS);
                for (WaitKnowledge each : WaitKnowledge.values()) {
                    LabResult result = run(scenario, placement, each);
                    assertThat(result.violations())
                            .as("%s %s %s", scenario.id(), placement, each)
                            .isEmpty();
                    assertThat(result.isRetired()).isTrue();
                    if (each == EVENTS) { // waits of the host instead, with other operations let past
                        continue;
                    }
                    assertThat(allWaits(result))
                            .as("frontiers need no more waits than others in %s", scenario.id())
                            .isGreaterThanOrEqualTo(allWaits(frontiers));
                    assertThat(result.finalTick())
                            .as("fewer waits, and the same order, in %s", scenario.id())
                            .isEqualTo(frontiers.finalTick());
                }
            }
        }
    }

    /** Waits of the hardware and of the host. */
    private static long allWaits(LabResult result) {
        return result.nativeWaits() + result.decisions().deferred();
    }

    private static LabResult run(Scenario scenario, Placement placement, WaitKnowledge knowledge) {
        Scale scale = new Scale(2, scenario.canRepeat() ? 3 : 1, 0);
        return Laboratory.run(
                scenario.withPlacement(placement), OPTIONS.withScale(scale).withKnowledge(knowledge));
    }

    @Test
    void withPlacementLanesUnrelatedOperationsAreNotOrdered() {
        LabResult result = Laboratory.run(Laboratory.scenario("independent"), OPTIONS.withScale(new Scale(2, 1, 0)));
        assertThat(result.queues()).hasSize(4);
        assertThat(result.operations()).allMatch(each -> each.entries().size() == 1);
    }

    /**
     * Many operations without duration, ready at the same tick on several queues: the order of their starts is a tie.
     */
    @Test
    void tiesLeaveTheOrderOfEachQueueAsItIs() {
        long seed = Effort.seed(System.nanoTime());
        Random random = new Random(seed);
        for (int run = 0; run < 20; run++) {
            int count = 40 + random.nextInt(160);
            StringBuilder text = new StringBuilder("""
                    id: ties
                    placement: queues
                    hardware: [{id: gpu, lanes: 4}]
                    semaphores: [gate, own]
                    operations:
                      - {id: gate, hw: gpu, duration: 50, signal: {gate: 1}, queue: 3}
                      - {id: alone, hw: gpu, duration: 0, signal: {own: 1}, queue: 0, submitted: 60}
                    """);
            for (int i = 0; i < count; i++) {
                text.append("  - {id: o%d, hw: gpu, duration: 0, wait: {gate: 1}, queue: %d, submitted: %d}%n"
                        .formatted(i, random.nextInt(3), random.nextInt(40)));
            }
            Scenario scenario = Laboratory.read(text.toString());
            long strangers = scenario.operations().stream()
                    .skip(2)
                    .filter(each -> each.queue() == 0)
                    .count();
            for (Comparison.Way each :
                    Comparison.of(scenario, LabOptions.DEFAULTS).ways()) {
                assertThat(each.strangers())
                        .as(
                                "seed %d run %d %s: all before 'alone' on its queue, and the gate",
                                seed, run, each.knowledge())
                        .isEqualTo(strangers + (strangers > 0 ? 1 : 0));
            }
        }
    }

    @Test
    void aWaitEndingWhileTheHostHoldsItsOperationBackIsACheck() {
        Comparison comparison = Comparison.of(Laboratory.read("""
                        id: held
                        hardware: [a, b, c]
                        semaphores: [early, late]
                        operations:
                          - {id: early, hw: a, duration: 2, signal: {early: 1}}
                          - {id: late, hw: b, signal: {late: 1}, submitted: 9}
                          - {id: both, hw: c, wait: {early: 1, late: 1}}
                        """), LabOptions.DEFAULTS);
        assertThat(comparison.ways()).allSatisfy(each -> {
            assertThat(each.freshWaits()).isEqualTo(2);
            assertThat(each.hostChecks()).isEqualTo(2);
            assertThat(each.waits()).isEqualTo(each.knowledge() == EVENTS ? 0 : 1);
        });
    }
}
