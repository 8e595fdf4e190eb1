package io.github.iree4j.generation;

import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/** A draft in Java that chooses the tokens of {@link PagedModel}, except for mistakes as often as wished. */
final class FakeDraft implements StepRunner {
    /** The faults of a step. */
    enum Mistake {
        /** Another token has the highest logit. */
        TOKEN,
        /** A logit and the keys and values of a row are no numbers. */
        NO_NUMBER,
        /** The tokens are none of the model's. */
        FOREIGN,
        /** The step fails, and leaves anything in its pages. */
        FAILURE,
        /** The device is lost. */
        LOSS
    }

    final PagedModel model;
    final List<Integer> scrubbed = new ArrayList<>();
    private final StepShapes shapes;
    private final int pages;
    private final SplittableRandom random;
    private final double[] shares = new double[Mistake.values().length];
    private double scrubFailures;

    FakeDraft(StepShapes shapes, int pages, SplittableRandom random) {
        this.shapes = shapes;
        this.pages = pages;
        this.model = new PagedModel(shapes, true, pages);
        this.random = random;
    }

    /** Makes a mistake in a share of the steps, or of the rows. */
    FakeDraft makes(Mistake mistake, double share) {
        shares[mistake.ordinal()] = share;
        return this;
    }

    /** Lets a share of the attempts to zero a page fail. */
    FakeDraft failsToScrub(double share) {
        scrubFailures = share;
        return this;
    }

    Draft proposer(Entry prefill, Entry decode) {
        return proposer(List.of(prefill), List.of(decode));
    }

    Draft proposer(List<Entry> prefills, List<Entry> decodes) {
        return proposer(prefills, decodes, System::nanoTime);
    }

    Draft proposer(List<Entry> prefills, List<Entry> decodes, LongSupplier clock) {
        return new Draft("fake", prefills, decodes, shapes, PagedModel.VOCABULARY, this, this::scrub, pages, clock);
    }

    private boolean happens(Mistake mistake) {
        return random.nextDouble() < shares[mistake.ordinal()];
    }

    private void scrub(int page) {
        if (random.nextDouble() < scrubFailures) {
            throw IreeException.of(StatusCode.INTERNAL, "fill failed");
        }
        scrubbed.add(page);
        model.scrub(page);
    }

    @Override
    public boolean runsAhead(Entry entry) {
        return model.runsAhead(entry);
    }

    @Override
    public void runAll(Step step, Logits logits, Consumer<Step> each) {
        if (step.steps() == 1) {
            StepRunner.super.runAll(step, logits, each);
            return;
        }
        lose();
        model.runAll(step, logits, each);
        fail(step);
    }

    private void lose() {
        if (happens(Mistake.LOSS)) {
            throw IreeException.of(StatusCode.ABORTED, "draft gone", null, new DeviceLost("fake draft"));
        }
    }

    private void fail(Step step) {
        if (happens(Mistake.FAILURE)) {
            model.spoil(step);
            throw IreeException.of(StatusCode.INTERNAL, "draft failed");
        }
    }

    @Override
    public void run(Step step, Logits logits) {
        lose();
        model.run(step, logits);
        fail(step);
        for (int row = 0; row < step.sequences().size(); row++) {
            MemorySegment values = logits.bytes(row, step.firstChoice(row));
            if (happens(Mistake.TOKEN)) {
                values.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, random.nextInt(PagedModel.VOCABULARY), 100f);
            }
            if (happens(Mistake.NO_NUMBER)) {
                values.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, Float.NaN);
                model.spoilLast(step, row);
            }
        }
        if (happens(Mistake.FOREIGN)) {
            long count = (long) step.entry().batch() * step.tokensPerRow() * PagedModel.VOCABULARY;
            logits.candidates(LongStream.range(0, count)
                    .map(each -> PagedModel.VOCABULARY + each % PagedModel.VOCABULARY)
                    .toArray());
        }
    }
}
