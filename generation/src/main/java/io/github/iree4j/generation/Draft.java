package io.github.iree4j.generation;

import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proposes the tokens with the highest logits of a smaller model, the draft, which has a separate cache with the page
 * numbers of the generator's cache. Whatever the draft computes, the tokens of a request are the same, so the draft is
 * not measured, and reads shared pages that another sequence may have read with other bits. Not thread-safe.
 *
 * <p>A <em>round</em> proposes tokens for the sequences of a step. A sequence of which the draft has not read many tokens
 * has them read first, a piece in each round, and proposals only after the last piece. Then decode steps read the last
 * tokens and the proposed tokens.
 *
 * <p>No failure of the draft reaches a request. Where a step fails, or logits are no numbers, the pages are zeroed, and
 * the sequences get no proposals any more. A draft whose device is lost, or whose pages cannot be zeroed, proposes
 * nothing any more.
 */
final class Draft implements Proposer {
    private static final Logger log = LoggerFactory.getLogger(Draft.class);

    /** As many tokens as a sequence has gained after the tokens read, where all proposed tokens were right. */
    private static final int BY_DECODE = 2;

    private final String name;
    private final List<Entry> prefills;
    private final List<Entry> decodes;
    private final StepShapes shapes;
    private final int vocabulary;
    private final StepRunner runner;
    private final IntConsumer scrub;
    private final LongSupplier nanoTime;
    private final DraftPages pages;
    private final Logits logits = new Logits();
    private final Sampler greedy = GenerationRequest.of(1, 0).sampler();
    private final Set<Sequence> givenUp = Collections.newSetFromMap(new WeakHashMap<>());
    private boolean off;
    private boolean failed; // at least once

    /**
     * Creates a draft.
     *
     * @param name of the program, for messages
     * @param prefills prefill functions with positions, by ascending batch size; not empty
     * @param decodes decode functions, by ascending batch size; not empty
     * @param shapes with the stride of the generator's cache
     * @param vocabulary number of tokens of the generator's model; 0 if unknown
     * @param runner computes the steps of the draft
     * @param scrub zeroes a page of the draft's cache
     * @param pages pages of each of the caches, page 0 included
     * @param nanoTime for the time of rounds
     */
    Draft(
            String name,
            List<Entry> prefills,
            List<Entry> decodes,
            StepShapes shapes,
            int vocabulary,
            StepRunner runner,
            IntConsumer scrub,
            int pages,
            LongSupplier nanoTime) {
        this.name = name;
        this.prefills = prefills;
        this.decodes = decodes;
        this.shapes = shapes;
        this.vocabulary = vocabulary;
        this.runner = runner;
        this.scrub = scrub;
        this.nanoTime = nanoTime;
        this.pages = new DraftPages(shapes.stride(), pages);
    }

    /** A sequence in a round. */
    private static final class Row {
        final Sequence sequence;
        final int index;
        final int most;
        int read; // tokens that the draft has read
        int proposed;

        Row(Sequence sequence, int index, int most, int read) {
            this.sequence = sequence;
            this.index = index;
            this.most = most;
            this.read = read;
        }

        /** Returns the number of known and proposed tokens to read. */
        int missing() {
            return sequence.length() + proposed - read;
        }
    }

    @Override
    public int most(Sequence sequence) {
        return off || givenUp.contains(sequence) ? 0 : Math.max(0, shapes.maximumTokens() - sequence.length() + 1);
    }

    @Override
    public boolean needsPages() {
        return true;
    }

    @Override
    public Proposals propose(List<Sequence> sequences, int[] most) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < most.length; i++) {
            if (most[i] > 0) {
                Sequence each = sequences.get(i);
                // The last token is always read, since its logits are needed.
                rows.add(new Row(each, i, most[i], Math.min(pages.known(each), each.length() - 1)));
            }
        }
        int[] counts = new int[most.length];
        if (rows.size() > decodes.getLast().batch()) {
            return new Proposals(counts, 0, 0);
        }
        long began = nanoTime.getAsLong();
        boolean usable = catchUp(rows);
        long read = nanoTime.getAsLong();
        List<Row> ready = new ArrayList<>(rows);
        ready.removeIf(each -> each.missing() > BY_DECODE);
        while (usable) {
            ready.removeIf(each -> each.proposed == each.most);
            usable = !ready.isEmpty() && decode(ready);
        }
        rows.forEach(each -> counts[each.index] = each.proposed);
        return new Proposals(counts, read - began, nanoTime.getAsLong() - read);
    }

    /** Reads a piece of each sequence with many tokens that the draft has not read. Returns whether the round goes on. */
    private boolean catchUp(List<Row> rows) {
        List<Row> behind = new ArrayList<>();
        int read = 0; // pages of each row
        int lastFirst = 0; // the page from which the row with the longest past reads
        for (Row each : rows) {
            int first = each.read / shapes.stride();
            int left = shapes.pagesFor(each.sequence.length()) - first;
            int most = Math.max(read, Math.min(left, shapes.chunkPages()));
            int last = Math.max(lastFirst, first);
            if (each.missing() > BY_DECODE
                    && behind.size() < prefills.getLast().batch()
                    && (behind.isEmpty() || last + most <= shapes.maximumColumns())) {
                behind.add(each);
                read = most;
                lastFirst = last;
            }
        }
        if (behind.isEmpty()) {
            return true;
        }
        int columns = Math.max(lastFirst + read, StepShapes.MINIMUM_COLUMNS);
        Step step = new Step(Measured.smallest(prefills, behind.size()), read * shapes.stride(), columns);
        for (Row each : behind) {
            each.read -= each.read % shapes.stride();
            step.add(each.sequence, each.read, Math.min(each.missing(), step.tokensPerRow()));
        }
        return run(step, behind);
    }

    /**
     * Reads the next token of each row, and the tokens proposed then, as far as all rows are read to the end and the device
     * finds the next tokens. Returns whether the round goes on.
     */
    private boolean decode(List<Row> rows) {
        Entry entry = Measured.smallest(decodes, rows.size());
        int steps = runner.runsAhead(entry) ? Integer.MAX_VALUE : 1;
        for (Row each : rows) {
            steps = Math.min(steps, each.missing() == 1 ? each.most - each.proposed : 1);
        }
        int columns = StepShapes.MINIMUM_COLUMNS;
        for (Row each : rows) {
            columns = Math.max(columns, shapes.pagesFor(each.read + steps));
        }
        Step step = new Step(entry, 1, columns);
        step.submitAhead(steps);
        rows.forEach(each -> step.add(each.sequence, each.read, 1));
        return run(step, rows);
    }

    /** Computes a step and the steps ahead, and proposes a token for each row whose last token was read. */
    private boolean run(Step step, List<Row> rows) {
        Map<Row, IreeException> wrong = new LinkedHashMap<>();
        try {
            runner.runAll(step, logits, each -> take(each, rows, wrong));
        } catch (DeviceLostException e) { // where the generator's model uses the device, its next step fails
            switchOff(e);
            return false;
        } catch (IreeException e) {
            giveUp(rows, e);
            return false;
        }
        if (!wrong.isEmpty()) {
            giveUp(wrong.keySet(), wrong.values().iterator().next());
        }
        return wrong.isEmpty();
    }

    private void take(Step step, List<Row> rows, Map<Row, IreeException> wrong) {
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            if (wrong.containsKey(row)) {
                continue;
            }
            pages.read(row.sequence, row.read, step.count(i));
            row.read += step.count(i);
            try {
                int token = logits.choose(i, step.firstChoice(i), greedy);
                if (row.missing() == 0) {
                    row.sequence.tokens()[row.read] = checked(token);
                    row.proposed++;
                }
            } catch (IreeException e) {
                wrong.put(row, e);
            }
        }
    }

    /** A token unknown to the generator's model would be an index beyond its tables. */
    private int checked(int token) {
        if (vocabulary > 0 && token >= vocabulary) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the draft '%s' proposes token %d; the model has %d tokens".formatted(name, token, vocabulary));
        }
        return token;
    }

    /** Zeroes the pages of sequences, which may hold infinities, and proposes nothing for the sequences any more. */
    private void giveUp(Collection<Row> rows, IreeException why) {
        if (!failed) {
            failed = true;
            log.warn(
                    "the draft '{}' fails; requests whose draft fails continue without proposals, further failures are not logged",
                    name,
                    why);
        }
        try {
            scrub.accept(PagePool.SCRATCH);
            for (Row each : rows) {
                givenUp.add(each.sequence);
                for (int i = 0; i < each.sequence.pageCount(); i++) {
                    int page = each.sequence.page(i);
                    pages.forget(page);
                    scrub.accept(page);
                }
            }
        } catch (IreeException e) {
            switchOff(e);
        }
    }

    private void switchOff(IreeException why) {
        off = true;
        log.warn("the draft '{}' proposes nothing any more", name, why);
    }
}
