package io.github.iree4j.generation;

import io.github.iree4j.generation.PrefixTree.Node;
import io.github.iree4j.generation.Proposer.Proposals;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides which sequences the next step reads, and which pages the sequences use. Deterministic, without device and
 * clock. Not thread-safe.
 *
 * <p>Sequences begin in the order of {@link WaitingLine}, as soon as {@link Admission} expects enough pages for all running
 * sequences, or no sequence runs. A sequence without a page for its next token takes the pages of the sequence that began
 * last, which begins again when there is room. So the oldest sequence always advances, and every sequence whose most pages
 * fit into the pool ends.
 *
 * <p>Prefill and decode steps alternate while sequences need both: a long prompt delays other sequences by a chunk.
 */
final class StepPlanner {
    private final StepShapes shapes;
    private final Measured measured;
    private final boolean prefillPosition;
    private final boolean alike;
    private final Speculation speculation;
    private final int stepsAhead;
    private final Proposer proposer;
    private final PagePool pool;
    private final PagePool host; // places for pages of sequences that have lost their pages
    private final PageMover mover;
    private final PrefixTree tree;
    private final WaitingLine waiting = new WaitingLine();
    private final Admission admission;
    private final TreeSet<Sequence> running = new TreeSet<>(Comparator.comparingLong(Sequence::place));
    private final StepTimes.Totals times = new StepTimes.Totals();
    private boolean decodeNext;
    private long vainNanos; // of proposals that the step does not verify
    private long preemptions;
    private long promptTokens;
    private long sharedTokens;
    private long restoredPages;

    /**
     * Creates a planner.
     *
     * @param prefillPosition whether prefill functions take positions
     * @param pages pages of the cache, page 0 included
     * @param admission says when sequences begin
     * @param proposer proposes tokens, as far as the policy says
     * @param stepsAhead most decode steps to submit before the first ends; 1 if the program cannot
     * @param hostPages pages of sequences that the host keeps
     * @param mover copies the pages
     */
    StepPlanner(
            boolean prefillPosition,
            StepShapes shapes,
            Measured measured,
            int pages,
            Admission admission,
            Speculation speculation,
            Proposer proposer,
            int stepsAhead,
            int hostPages,
            PageMover mover) {
        this.stepsAhead = stepsAhead;
        this.host = new PagePool(hostPages + 1);
        this.mover = mover;
        this.shapes = shapes;
        this.admission = admission;
        this.measured = measured;
        this.prefillPosition = prefillPosition;
        this.alike = measured.alike();
        this.speculation = speculation;
        this.proposer = proposer;
        this.pool = new PagePool(pages);
        this.tree = new PrefixTree(shapes.stride());
    }

    /** Adds a sequence without pages, which needs at most as many pages as the pool has. */
    void add(Sequence sequence) {
        sequence.generation().times().arrives(times);
        waiting.add(sequence);
    }

    boolean isIdle() {
        return waiting.size() == 0 && running.isEmpty();
    }

    /** Returns the index of the page of a position. */
    int columnOf(int position) {
        return position / shapes.stride();
    }

    /** Returns whether a sequence has pages. */
    boolean isRunning(Sequence sequence) {
        return running.contains(sequence);
    }

    /** Returns all sequences. */
    List<Sequence> sequences() {
        List<Sequence> all = new ArrayList<>(running);
        all.addAll(waiting.sequences());
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
                preemptions,
                speculation.proposedTokens(),
                speculation.acceptedTokens(),
                speculation.pausedSteps(),
                restoredPages);
    }

    /** Returns the sequences and pages. */
    GeneratorSnapshot snapshot() {
        return new GeneratorSnapshot(
                pool.size() + 1,
                shapes.stride(),
                tree.idle(),
                sequences().stream().map(Sequence::state).toList());
    }

    /** Returns the free places for pages on the host. */
    int availableHostPages() {
        return host.available();
    }

    /** Returns the pages that no sequence uses. */
    int availablePages() {
        return pool.available() + tree.idlePages();
    }

    /** Removes a sequence; shared pages stay for later prompts. */
    void remove(Sequence sequence) {
        admission.ended(sequence);
        forgetSaved(sequence);
        running.remove(sequence);
        waiting.end(sequence);
        takePages(sequence);
    }

    /** Frees the pages of a sequence, which may hold infinities. Returns the pages. The sequence waits for pages again. */
    List<Integer> restart(Sequence sequence) {
        running.remove(sequence);
        sequence.generation().times().waits();
        waiting.add(sequence);
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
            decodeNext = step.entry().prefill() && step.proposing() == 0;
        }
        return step;
    }

    /** Adds the time of a step to the delays of all sequences, before the step is {@link #completed}. */
    void passed(Step step, boolean prefill, long stepNanos) {
        long nanos = stepNanos + step.readNanos() + step.draftNanos();
        times.passed(prefill, nanos);
        step.sequences().forEach(each -> each.generation().times().own(prefill, nanos));
    }

    /** Records that a step has computed keys and values, before tokens are appended. */
    void completed(Step step) {
        for (int row = 0; row < step.sequences().size(); row++) {
            step.sequences().get(row).advance(step.added(row));
        }
    }

    /** Keeps the full pages of a sequence for later prompts, after the logits of the step have shown no infinities. */
    void share(Step step, Sequence sequence) {
        if (step.entry().prefill() && prefillPosition || alike) { // a later prefill can begin after the pages
            share(sequence);
        }
    }

    /**
     * Records the time of a step, with the choice of its tokens.
     *
     * @param nanos time; of {@linkplain Step#steps() several steps}, the mean
     * @param accepted how many of the proposed tokens were chosen
     */
    void took(Step step, long nanos, int accepted) {
        if (step.proposing() > 0) {
            int proposed = 0;
            for (int row = 0; row < step.sequences().size(); row++) {
                proposed += step.proposed(row);
            }
            speculation.verified(
                    nanos + step.draftNanos(), step.sequences().size(), step.proposing(), proposed, accepted);
        } else if (!step.entry().prefill()) {
            speculation.decoded(step.entry(), nanos, step.steps());
        }
    }

    private void share(Sequence sequence) {
        int fullPages = sequence.computed() / shapes.stride();
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
        while (running.size() < measured.sequences()) {
            Sequence first = waiting.first();
            if (first == null) {
                return;
            }
            List<Node> path = known(first);
            int available = availablePages() - PrefixTree.unpinned(path);
            if (!running.isEmpty() && !admission.suffices(shapes, running, first, path, available)) {
                return;
            }
            tree.pin(path);
            first.adopt(path, path.size() * shapes.stride());
            if (!first.hasBegun()) { // after a preemption the pages may be the sequence's own
                promptTokens += first.promptLength();
                sharedTokens += first.computed();
                first.generation().shared(first.computed());
            }
            restore(first);
            waiting.begin(first);
            first.generation().times().runs();
            running.add(first);
        }
    }

    /** Returns the kept pages of the tokens, as far as a prefill can begin after them; the last token is always read. */
    private List<Node> known(Sequence sequence) {
        List<Node> path = tree.match(sequence.tokens(), (sequence.prefillLength(alike) - 1) / shapes.stride());
        int usable = measured.shapes() ? path.size() : path.size() - path.size() % shapes.chunkPages();
        return path.subList(0, usable);
    }

    private @Nullable Step prefill() {
        List<Sequence> rows = new ArrayList<>();
        int read = 0; // pages of each row
        int lastFirst = 0; // the page from which the row with the longest past reads
        for (Sequence each : running.toArray(Sequence[]::new)) { // later ones may lose their pages
            if (rows.size() == measured.prefills().getLast().batch()
                    || !rows.isEmpty() && rows.getFirst().isSuspect()) {
                break;
            }
            if (!running.contains(each) || !each.isPrefilling(alike) || each.isSuspect() && !rows.isEmpty()) {
                continue;
            }
            int first = each.computed() / shapes.stride();
            int own = pagesRead(each, first);
            int most = Math.max(read, own);
            int last = Math.max(lastFirst, first);
            boolean fits = measured.shapes() ? last + most <= shapes.maximumColumns() : own == read;
            if ((rows.isEmpty() || fits)
                    && reserve(
                            each,
                            shapes.pagesFor(Math.min(each.prefillLength(alike), (first + own) * shapes.stride())))) {
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
            step.add(each, Math.min(each.prefillLength(alike) - each.computed(), read * shapes.stride()));
        }
        return step;
    }

    /** Returns the pages that the next prefill step reads of a sequence: of a program without positions all columns. */
    private int pagesRead(Sequence sequence, int first) {
        int left = shapes.pagesFor(sequence.prefillLength(alike)) - first;
        if (!prefillPosition) {
            return measured.shapes() ? Math.max(left, StepShapes.MINIMUM_COLUMNS) : shapes.maximumColumns();
        }
        int most = Math.min(shapes.chunkPages(), shapes.maximumColumns() - first);
        return measured.shapes() ? Math.min(most, left) : most;
    }

    private @Nullable Step decode() {
        List<Sequence> rows = new ArrayList<>();
        for (Sequence each : running.toArray(Sequence[]::new)) {
            if (!each.isPrefilling(alike) && reserve(each, shapes.pagesFor(each.computed() + 1))) {
                rows.add(each);
            }
        }
        if (rows.isEmpty()) {
            return null;
        }
        Sequence suspect = firstSuspect(rows);
        if (suspect != null) {
            rows = List.of(suspect);
        }
        Entry entry = Measured.smallest(measured.decodes(), rows.size());
        Step verify = verify(rows, entry);
        if (verify != null) {
            return verify;
        }
        int steps = stepsAhead(rows);
        int columns = measured.shapes() ? StepShapes.MINIMUM_COLUMNS : shapes.maximumColumns();
        for (Sequence each : rows) {
            while (each.pageCount() < shapes.pagesFor(each.computed() + steps)) {
                each.addPage(takePage());
            }
            columns = Math.max(columns, each.pageCount());
        }
        Step step = new Step(entry, 1, columns);
        step.submitAhead(steps);
        step.drafted(vainNanos, 0);
        rows.forEach(each -> step.add(each, 1));
        return step;
    }

    private static @Nullable Sequence firstSuspect(List<Sequence> rows) {
        for (Sequence each : rows) {
            if (each.isSuspect()) {
                return each;
            }
        }
        return null;
    }

    /** Returns how many decode steps to submit at once: all rows need all steps, and no other sequence loses pages. */
    private int stepsAhead(List<Sequence> rows) {
        int steps = rows.size() < running.size() ? 1 : stepsAhead; // prompts are read between decode steps
        for (Sequence each : rows) {
            boolean isNew = each.computed() == each.length() - 1; // otherwise the next token is known
            steps = Math.min(steps, isNew ? each.mostTokens() - each.computed() : 1);
        }
        while (steps > 1 && pagesMissing(rows, steps) > availablePages()) {
            steps--;
        }
        return steps;
    }

    private int pagesMissing(List<Sequence> rows, int steps) {
        int missing = 0;
        for (Sequence each : rows) {
            missing += Math.max(0, shapes.pagesFor(each.computed() + steps) - each.pageCount());
        }
        return missing;
    }

    /**
     * Returns a step that also reads proposed tokens of sequences, or null if no such step is worthwhile.
     *
     * @param decode the function of the decode step instead
     */
    private @Nullable Step verify(List<Sequence> rows, Entry decode) {
        vainNanos = 0;
        if (speculation.proposals() == 0
                || !measured.verifiable()
                || rows.size() > measured.prefills().getLast().batch()) {
            return null;
        }
        Entry entry = Measured.smallest(measured.prefills(), rows.size());
        if (!speculation.look(entry, decode)) {
            return null;
        }
        int[] most = mostProposals(rows);
        if (!isWorthwhile(rows, most)) {
            return null;
        }
        if (proposer.needsPages()) {
            takePages(rows, most);
        }
        Proposals proposals = proposer.propose(rows, most);
        speculation.drafted(proposals.readNanos());
        if (!isWorthwhile(rows, proposals.counts())) {
            vainNanos = proposals.readNanos() + proposals.nanos();
            speculation.vain(proposals.nanos());
            return null;
        }
        takePages(rows, proposals.counts());
        int read = pagesRead(rows, proposals.counts());
        int columns = Math.max(lastFirst(rows) + read, StepShapes.MINIMUM_COLUMNS);
        Step step = new Step(entry, read * shapes.stride(), columns);
        step.drafted(proposals.readNanos(), proposals.nanos());
        for (int row = 0; row < rows.size(); row++) {
            Sequence each = rows.get(row);
            int from = each.computed() - each.computed() % shapes.stride();
            step.addProposed(each, from, proposals.counts()[row]);
        }
        return step;
    }

    /** Returns the most tokens to propose for each sequence, as far as so many pages are free, and makes room for them. */
    private int[] mostProposals(List<Sequence> rows) {
        int[] proposals = new int[rows.size()];
        int free = availablePages();
        for (int row = 0; row < proposals.length; row++) {
            Sequence each = rows.get(row);
            int most = Math.min(speculation.proposals(), each.mostTokens() - each.length());
            most = Math.min(most, (each.pageCount() + free) * shapes.stride() - each.length());
            proposals[row] = Math.clamp(most, 0, proposer.most(each));
            each.ensureRoom(proposals[row]);
            free -= Math.max(0, shapes.pagesFor(each.length() + proposals[row]) - each.pageCount());
        }
        return proposals;
    }

    private boolean isWorthwhile(List<Sequence> rows, int[] proposals) {
        int proposing = 0;
        for (int each : proposals) {
            proposing += each > 0 ? 1 : 0;
        }
        return proposing > 0
                && lastFirst(rows) + pagesRead(rows, proposals) <= shapes.maximumColumns()
                && speculation.isWorthwhile(rows.size(), proposing);
    }

    /** Returns the page from which the row with the longest past reads. */
    private int lastFirst(List<Sequence> rows) {
        int last = 0;
        for (Sequence each : rows) {
            last = Math.max(last, each.computed() / shapes.stride());
        }
        return last;
    }

    /** Returns the pages of each row of a step that reads proposals. */
    private int pagesRead(List<Sequence> rows, int[] proposals) {
        int read = 0;
        for (int row = 0; row < proposals.length; row++) {
            Sequence each = rows.get(row);
            int pages = shapes.pagesFor(each.length() + proposals[row]);
            read = Math.max(read, pages - each.computed() / shapes.stride());
        }
        return read;
    }

    /** Gives pages for proposals, which are free, to sequences. */
    private void takePages(List<Sequence> rows, int[] proposals) {
        for (int row = 0; row < proposals.length; row++) {
            Sequence each = rows.get(row);
            while (each.pageCount() < shapes.pagesFor(each.length() + proposals[row])) {
                each.addPage(takePage());
            }
        }
    }

    /** Gives pages to a sequence, if need be of sequences that began later. Returns false when the sequence lost its own. */
    private boolean reserve(Sequence sequence, int pages) {
        while (sequence.pageCount() < pages) {
            if (availablePages() > 0) {
                sequence.addPage(takePage());
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

    private int takePage() {
        return pool.available() > 0 ? pool.take() : tree.evict();
    }

    private void preempt(Sequence sequence) {
        preemptions++;
        sequence.generation().times().preempted();
        running.remove(sequence);
        waiting.add(sequence); // first, so that a sequence whose copy finds the device lost gives its pages back
        save(sequence);
        takePages(sequence);
    }

    /** Copies the pages of a sequence to the host, if the host has room for all. */
    private void save(Sequence sequence) {
        int count = shapes.pagesFor(sequence.computed());
        if (count > host.available()) {
            return;
        }
        int[] slots = new int[count];
        for (int i = 0; i < count; i++) {
            slots[i] = host.take();
        }
        try {
            for (int i = 0; i < count; i++) {
                mover.toHost(sequence.page(i), slots[i]);
            }
        } catch (IreeException e) {
            giveToHost(slots);
            if (e instanceof DeviceLostException) {
                throw e;
            }
            return; // the sequence computes its tokens again
        }
        sequence.save(slots);
    }

    /** Copies the pages of a sequence back, except for pages shared with others. There are enough free pages. */
    private void restore(Sequence sequence) {
        int[] slots = sequence.saved();
        try {
            for (int i = sequence.pageCount(); i < slots.length; i++) {
                int page = takePage();
                sequence.addPage(page);
                mover.toCache(slots[i], page);
                restoredPages++;
            }
            sequence.restored();
        } catch (DeviceLostException e) {
            throw e;
        } catch (IreeException _) { // the sequence computes its tokens again
            sequence.forgetSaved();
        }
        giveToHost(slots);
    }

    private void giveToHost(int[] slots) {
        for (int slot : slots) {
            host.give(slot);
        }
    }

    private void forgetSaved(Sequence sequence) {
        giveToHost(sequence.saved());
        sequence.forgetSaved();
    }

    private void takePages(Sequence sequence) {
        for (int i = sequence.shared().size(); i < sequence.pageCount(); i++) {
            pool.give(sequence.page(i));
        }
        tree.unpin(sequence.shared());
        sequence.forget();
    }
}
