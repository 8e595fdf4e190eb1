package io.github.iree4j.generation;

import io.github.iree4j.generation.PrefixTree.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides which sequences the next step reads, and which pages the sequences use. Deterministic, without device and
 * clock. Not thread-safe.
 *
 * <p>Sequences begin in the order of submission, as soon as there are pages for their known tokens. A sequence without
 * a page for its next token takes the pages of the sequence submitted last, which begins again when there is room. So
 * the oldest sequence always advances, and every sequence whose most pages fit into the pool ends.
 *
 * <p>Prefill and decode steps alternate while sequences need both: a long prompt delays other sequences by a chunk.
 */
final class StepPlanner {
    private final StepShapes shapes;
    private final Measured measured;
    private final boolean prefillPosition;
    private final PagePool pool;
    private final PrefixTree tree;
    private final TreeSet<Sequence> waiting = new TreeSet<>(Comparator.comparingLong(StepPlanner::order));
    private final TreeSet<Sequence> running = new TreeSet<>(Comparator.comparingLong(StepPlanner::order));
    private boolean decodeNext;
    private long preemptions;
    private long promptTokens;
    private long sharedTokens;

    StepPlanner(boolean prefillPosition, StepShapes shapes, Measured measured, int pages) {
        this.shapes = shapes;
        this.measured = measured;
        this.prefillPosition = prefillPosition;
        this.pool = new PagePool(pages);
        this.tree = new PrefixTree(shapes.stride());
    }

    private static long order(Sequence sequence) {
        return sequence.generation().number();
    }

    /** Adds a new sequence, which needs at most as many pages as the pool has. */
    void add(Sequence sequence) {
        waiting.add(sequence);
    }

    boolean isIdle() {
        return waiting.isEmpty() && running.isEmpty();
    }

    /** Returns all sequences. */
    List<Sequence> sequences() {
        List<Sequence> all = new ArrayList<>(running);
        all.addAll(waiting);
        return all;
    }

    /** Returns the state, with counters of the loop. */
    GeneratorStatistics statistics(long prefillSteps, long decodeSteps, long generatedTokens) {
        return new GeneratorStatistics(
                pool.size(),
                pool.available(),
                tree.idlePages(),
                running.size(),
                waiting.size(),
                prefillSteps,
                decodeSteps,
                promptTokens,
                sharedTokens,
                generatedTokens,
                preemptions);
    }

    /** Returns the pages that no sequence uses. */
    int availablePages() {
        return pool.available() + tree.idlePages();
    }

    /** Removes a sequence; full pages of the prompt stay for later prompts. */
    void remove(Sequence sequence) {
        waiting.remove(sequence);
        running.remove(sequence);
        takePages(sequence);
    }

    /** Removes a sequence whose pages may hold infinities. Returns these pages, which are free now. */
    List<Integer> discard(Sequence sequence) {
        waiting.remove(sequence);
        running.remove(sequence);
        List<Integer> freed = tree.discard(sequence.shared());
        for (int i = sequence.shared().size(); i < sequence.pageCount(); i++) {
            freed.add(sequence.page(i));
        }
        freed.forEach(pool::give);
        sequence.forget();
        return freed;
    }

    /** Returns the next step, or null when there are no sequences. */
    @Nullable
    Step next() {
        admit();
        Step step = decodeNext ? decode() : prefill();
        if (step == null) {
            step = decodeNext ? prefill() : decode();
        }
        if (step != null) {
            decodeNext = step.entry().prefill();
        }
        return step;
    }

    /** Records that a step has computed keys and values, before tokens are appended. */
    void completed(Step step) {
        for (int row = 0; row < step.sequences().size(); row++) {
            Sequence sequence = step.sequences().get(row);
            sequence.advance(step.count(row));
            if (step.entry().prefill() && prefillPosition) { // a later prefill can begin after the pages
                share(sequence, sequence.computed() / shapes.stride());
            }
        }
    }

    private void share(Sequence sequence, int fullPages) {
        List<Node> path = sequence.shared();
        while (path.size() < fullPages) {
            int index = path.size();
            int page = sequence.page(index);
            Node node = tree.extend(path, sequence.tokens(), page);
            path.add(node);
            if (node.page() != page) { // another sequence was first
                sequence.replacePage(index, node.page());
                pool.give(page);
            }
        }
    }

    private void admit() {
        while (running.size() < measured.sequences() && !waiting.isEmpty()) {
            Sequence first = waiting.first();
            List<Node> path = known(first);
            int needed = shapes.pagesFor(Math.min(first.length() + 1, first.mostTokens())) - path.size();
            if (availablePages() - PrefixTree.unpinned(path) < needed && !running.isEmpty()) {
                return;
            }
            waiting.remove(first);
            tree.pin(path);
            if (first.adopt(path, path.size() * shapes.stride())) {
                promptTokens += first.promptLength();
                sharedTokens += first.computed();
            }
            running.add(first);
        }
    }

    /** Returns the kept pages of the prompt, as far as a prefill can begin after them; the last token is always read. */
    private List<Node> known(Sequence sequence) {
        List<Node> path = tree.match(sequence.tokens(), (sequence.promptLength() - 1) / shapes.stride());
        int usable = measured.shapes() ? path.size() : path.size() - path.size() % shapes.chunkPages();
        return path.subList(0, usable);
    }

    private @Nullable Step prefill() {
        List<Sequence> rows = new ArrayList<>();
        int read = 0; // pages of each row
        int lastFirst = 0; // the page from which the row with the longest past reads
        for (Sequence each : running.toArray(Sequence[]::new)) { // later ones may lose their pages
            if (rows.size() == measured.prefills().getLast().batch()) {
                break;
            }
            if (!running.contains(each) || !each.isPrefilling()) {
                continue;
            }
            int first = each.computed() / shapes.stride();
            int own = pagesRead(each, first);
            int most = Math.max(read, own);
            int last = Math.max(lastFirst, first);
            boolean fits = measured.shapes() ? last + most <= shapes.maximumColumns() : own == read;
            if ((rows.isEmpty() || fits)
                    && reserve(each, shapes.pagesFor(Math.min(each.promptLength(), (first + own) * shapes.stride())))) {
                rows.add(each);
                read = most;
                lastFirst = last;
            }
        }
        if (rows.isEmpty()) {
            return null;
        }
        int columns =
                measured.shapes() ? Math.max(lastFirst + read, StepShapes.MINIMUM_COLUMNS) : shapes.maximumColumns();
        Step step = new Step(Measured.smallest(measured.prefills(), rows.size()), read * shapes.stride(), columns);
        for (Sequence each : rows) {
            step.add(each, Math.min(each.promptLength() - each.computed(), read * shapes.stride()));
        }
        return step;
    }

    /** Returns the pages that the next prefill step reads of a sequence: of a program without positions all columns. */
    private int pagesRead(Sequence sequence, int first) {
        int left = shapes.pagesFor(sequence.promptLength()) - first;
        if (!prefillPosition) {
            return measured.shapes() ? Math.max(left, StepShapes.MINIMUM_COLUMNS) : shapes.maximumColumns();
        }
        int most = Math.min(shapes.chunkPages(), shapes.maximumColumns() - first);
        return measured.shapes() ? Math.min(most, left) : most;
    }

    private @Nullable Step decode() {
        List<Sequence> rows = new ArrayList<>();
        for (Sequence each : running.toArray(Sequence[]::new)) {
            if (!each.isPrefilling() && reserve(each, shapes.pagesFor(each.computed() + 1))) {
                rows.add(each);
            }
        }
        if (rows.isEmpty()) {
            return null;
        }
        int columns = measured.shapes() ? StepShapes.MINIMUM_COLUMNS : shapes.maximumColumns();
        for (Sequence each : rows) {
            columns = Math.max(columns, each.pageCount());
        }
        Step step = new Step(Measured.smallest(measured.decodes(), rows.size()), 1, columns);
        rows.forEach(each -> step.add(each, 1));
        return step;
    }

    /** Gives pages to a sequence, if need be of sequences submitted later. Returns false when the sequence lost its own. */
    private boolean reserve(Sequence sequence, int pages) {
        while (sequence.pageCount() < pages) {
            if (pool.available() > 0) {
                sequence.addPage(pool.take());
            } else if (tree.idlePages() > 0) {
                sequence.addPage(tree.evict());
            } else {
                Sequence last = running.last();
                preempt(last);
                if (last == sequence) {
                    return false;
                }
            }
        }
        return true;
    }

    private void preempt(Sequence sequence) {
        preemptions++;
        running.remove(sequence);
        takePages(sequence);
        waiting.add(sequence);
    }

    private void takePages(Sequence sequence) {
        for (int i = sequence.shared().size(); i < sequence.pageCount(); i++) {
            pool.give(sequence.page(i));
        }
        tree.unpin(sequence.shared());
        sequence.forget();
    }
}
