package io.github.iree4j.generation;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A loop on a model in Java, with a function for prompts and a function for the tokens after prompts. */
final class FakeLoop implements AutoCloseable {
    private final StepShapes shapes;
    private final int pages;
    final PagedModel model;
    private int prefillRows = 1;
    private int decodeRows = 1;
    private boolean alike;
    private Admission admission = new Admission();
    private Speculation speculation = new EveryProposal(0);
    private Proposer proposer = new PromptLookup();
    private int hostPages;
    private int stepsAhead = 1;
    private int maximumWaiting = 100;
    private int requestsPerTenant = 100;
    private final CountDownLatch begun = new CountDownLatch(1);
    private LongSupplier clock = System::nanoTime;
    private StepRunner runner;
    private IntConsumer scrub;
    private Runnable atEnd = () -> {};
    private @Nullable StepPlanner planner;
    private @Nullable GenerationLoop loop;

    FakeLoop(StepShapes shapes, int pages) {
        this.shapes = shapes;
        this.pages = pages;
        this.model = new PagedModel(shapes, true, pages);
        this.runner = model;
        this.scrub = model::scrub;
    }

    FakeLoop rows(int prefill, int decode) {
        prefillRows = prefill;
        decodeRows = decode;
        return this;
    }

    /** Lets prefill functions read generated tokens, and verifies every proposal of so many tokens. */
    FakeLoop alike(int proposedTokens) {
        return alike(new EveryProposal(proposedTokens));
    }

    /** Lets prefill functions read generated tokens, and verifies proposals by a policy. */
    FakeLoop alike(Speculation policy) {
        alike = true;
        speculation = policy;
        return this;
    }

    /** Lets sequences begin that soon lose their pages. */
    FakeLoop hasty() {
        admission = new HastyAdmission();
        return this;
    }

    FakeLoop proposer(Proposer other) {
        proposer = other;
        return this;
    }

    FakeLoop hostPages(int count) {
        hostPages = count;
        return this;
    }

    /** Submits so many decode steps at once. */
    FakeLoop stepsAhead(int count) {
        model.topOne();
        stepsAhead = count;
        return this;
    }

    FakeLoop maximumWaiting(int count) {
        maximumWaiting = count;
        return this;
    }

    FakeLoop requestsPerTenant(int count) {
        requestsPerTenant = count;
        return this;
    }

    FakeLoop clock(LongSupplier nanoTime) {
        clock = nanoTime;
        return this;
    }

    /** Replaces the model. */
    FakeLoop runner(StepRunner other, IntConsumer otherScrub) {
        runner = other;
        scrub = otherScrub;
        return this;
    }

    /** Lets the first step wait. */
    FakeLoop waitFor(CountDownLatch latch) {
        return before(_ -> {
            begun.countDown();
            await(latch);
        });
    }

    /** Waits for a latch, in a hook. */
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    FakeLoop atEnd(Runnable action) {
        atEnd = action;
        return this;
    }

    /** Runs a hook before each step. */
    FakeLoop before(Consumer<Step> hook) {
        model.before(hook);
        return this;
    }

    FakeLoop start() {
        Measured measured = new Measured(
                List.of(new Entry("prefill_bs" + prefillRows, true, prefillRows)),
                List.of(new Entry("decode_bs" + decodeRows, false, decodeRows)),
                true,
                true,
                alike,
                alike);
        planner = new StepPlanner(
                true, shapes, measured, pages, admission, speculation, proposer, stepsAhead, hostPages, model);
        loop = new GenerationLoop("fake", planner, runner, scrub, maximumWaiting, requestsPerTenant, clock, atEnd);
        return this;
    }

    Generation submit(GenerationRequest request) {
        return loop.submit(request);
    }

    /** Submits the first request, and returns when its step has begun and {@linkplain #waitFor waits}: later requests are in later steps. */
    Generation submitFirst(GenerationRequest request) {
        Generation generation = submit(request);
        await(begun);
        return generation;
    }

    GeneratorStatistics statistics() {
        return loop.statistics();
    }

    int pages() {
        return pages;
    }

    int mostTokens() {
        return shapes.maximumTokens();
    }

    int availablePages() {
        return planner.availablePages();
    }

    /** Returns the planner, for hooks, and behind the end. */
    StepPlanner planner() {
        return planner;
    }

    @Override
    public void close() {
        loop.close();
    }
}
