package io.github.iree4j.generation;

import io.github.iree4j.generation.sampling.Sampler;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The state of a request: its tokens, and the pages with keys and values of the first tokens. Confined to the thread of
 * the generator.
 *
 * <pre>
 *   tokens   [ prompt ............ | generated ... | proposed ]
 *            0        computed     promptLength    length
 *                     tokens before have keys and values in the pages
 * </pre>
 *
 * <p>A sequence that loses its pages has {@code computed} 0 again, and reads its prompt by prefill steps and its
 * generated tokens by decode steps, as at first: the same functions give the same bits, so preemption changes nothing.
 * Where prefill and decode functions compute equal bits, prefill steps read the generated tokens, too.
 */
final class Sequence {
    private final Generation generation;
    private final Sampler sampler;
    private final int promptLength;
    private int[] tokens;
    private int length;
    private int computed;
    private long place = -1;
    private boolean suspect;

    /** Pages shared with other sequences, the first pages of the table. */
    private final List<PrefixTree.Node> shared = new ArrayList<>();

    private int[] pages = new int[4];
    private int pageCount;

    /** Places on the host of the first pages, of a sequence that has lost its pages. */
    private int[] saved = new int[0];

    private int savedTokens; // with keys and values in the saved pages

    Sequence(Generation generation) {
        this.generation = generation;
        this.tokens = generation.request().prompt();
        this.promptLength = tokens.length;
        this.length = tokens.length;
        this.sampler = generation.request().sampler();
    }

    Generation generation() {
        return generation;
    }

    Sampler sampler() {
        return sampler;
    }

    /** Returns the tokens; longer than {@link #length()}. */
    int[] tokens() {
        return tokens;
    }

    int length() {
        return length;
    }

    int promptLength() {
        return promptLength;
    }

    int computed() {
        return computed;
    }

    /** Returns whether the sequence has ever had pages. */
    boolean hasBegun() {
        return place >= 0;
    }

    /**
     * Returns whether logits were no numbers in a step with other sequences: the cause may be a neighbour, whose
     * infinities padding shares. Steps alone show the cause.
     */
    boolean isSuspect() {
        return suspect;
    }

    void suspect(boolean is) {
        suspect = is;
    }

    /** Returns the place in the order of first beginnings. */
    long place() {
        return place;
    }

    /** Sets the place of a sequence that begins for the first time. */
    void takePlace(long number) {
        place = number;
    }

    /**
     * Returns the number of tokens that prefill steps read.
     *
     * @param alike whether prefill steps may read generated tokens
     */
    int prefillLength(boolean alike) {
        return alike ? length : promptLength;
    }

    /** Returns whether the next step of the sequence is a prefill step. */
    boolean isPrefilling(boolean alike) {
        return computed < promptLength || alike && computed < length - 1;
    }

    /** Returns the most tokens that may ever have keys and values: the last token is never read. */
    int mostTokens() {
        return promptLength + generation.request().maximumTokens() - 1;
    }

    /** Records that steps have computed keys and values of further tokens. */
    void advance(int count) {
        computed += count;
    }

    /** Appends a generated token. */
    void append(int token) {
        ensureRoom(1);
        tokens[length++] = token;
    }

    /** Makes room for tokens behind the last token. */
    void ensureRoom(int count) {
        if (length + count > tokens.length) {
            tokens = Arrays.copyOf(tokens, Math.max(16, 2 * length + count));
        }
    }

    int pageCount() {
        return pageCount;
    }

    int page(int index) {
        return pages[index];
    }

    void addPage(int page) {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
        }
        pages[pageCount++] = page;
    }

    void replacePage(int index, int page) {
        pages[index] = page;
    }

    List<PrefixTree.Node> shared() {
        return shared;
    }

    /** Returns the state. */
    GeneratorSnapshot.SequenceState state() {
        return new GeneratorSnapshot.SequenceState(
                generation.number(),
                generation.request().tenant(),
                promptLength,
                length - promptLength,
                generation.request().maximumTokens(),
                computed,
                shared.size(),
                Arrays.stream(pages, 0, pageCount).boxed().toList());
    }

    /** Begins with the pages of earlier tokens. */
    void adopt(List<PrefixTree.Node> path, int pathTokens) {
        shared.addAll(path);
        path.forEach(each -> addPage(each.page()));
        computed = pathTokens;
    }

    /** Returns the places of the saved pages, in the order of tokens; not copied. */
    int[] saved() {
        return saved;
    }

    /** Records where the pages of the computed tokens are on the host. */
    void save(int[] slots) {
        saved = slots;
        savedTokens = computed;
    }

    /** Records that the saved pages are in the cache again, after the pages that the sequence shares. */
    void restored() {
        computed = Math.max(computed, savedTokens);
        forgetSaved();
    }

    void forgetSaved() {
        saved = new int[0];
        savedTokens = 0;
    }

    /** Forgets all pages. */
    void forget() {
        shared.clear();
        pageCount = 0;
        computed = 0;
    }
}
