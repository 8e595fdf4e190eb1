package io.github.iree4j.generation;

import io.github.iree4j.generation.sampling.IntKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Measures whether a program computes a row with the same bits whatever else is in the step. Compilers may vectorise,
 * tile or split differently for other batch sizes, places and shapes, and then the sums differ in their last bits, and
 * tokens with nearly equal logits are exchanged.
 *
 * <p>A probe runs prompts through a function, alone with padding for the reference, and compares the bits of all logits
 * that generation reads. Neighbours begin at other positions, and have other lengths; the tokens and pages of neighbours
 * mean nothing. The pages of the cache are used from page 1 on, and mean nothing afterwards.
 *
 * <p>A generator measures at each start with few short steps: rows whose number is a power of two, and a pattern of
 * neighbours. A thorough probe measures every row of every function beside every pattern of neighbours, more numbers of
 * columns and more sizes of pieces, with prompts of up to two and a half pages; and as a start does, a prompt of several
 * pieces.
 */
final class RowProbe {
    private static final long SEED = 0x69726565; // any; the same for every run
    private static final int EACH_UP_TO = 16; // numbers of columns and pages, each measured by a thorough probe
    private static final int SHOWN = 3; // findings of a comparison

    private final List<Entry> allPrefills;
    private final List<Entry> allDecodes;
    private final boolean prefillPosition;
    private final int vocabulary;
    private final StepShapes shapes;
    private final StepRunner runner;
    private final int pages;
    private final boolean thorough;
    private final Map<String, Integer> differences = new TreeMap<>(); // by comparison
    private final List<String> findings = new ArrayList<>();
    private final Set<Entry> everyToken = new HashSet<>(); // prefill functions that return the logits of every token

    /** Prompts, by ascending length. */
    private final List<int[]> prompts;

    /** Runs alone with a column more, by prompt and functions, for several comparisons. */
    private final Map<List<Object>, Run> alone = new HashMap<>();

    /**
     * Creates a probe.
     *
     * @param prefills the prefill functions, by ascending batch size
     * @param decodes the decode functions, by ascending batch size
     * @param prefillPosition whether prefill functions take positions
     * @param vocabulary number of tokens; 0 if unknown
     * @param pages pages of the cache, page 0 included
     * @param prompts number of prompts for each comparison, at least 1
     * @param thorough whether to measure every row of every function, more neighbours and shapes, and longer prompts
     */
    RowProbe(
            List<Entry> prefills,
            List<Entry> decodes,
            boolean prefillPosition,
            int vocabulary,
            StepShapes shapes,
            StepRunner runner,
            int pages,
            int prompts,
            boolean thorough) {
        this.allPrefills = prefills;
        this.allDecodes = decodes;
        this.prefillPosition = prefillPosition;
        this.vocabulary = vocabulary == 0 ? 2 : vocabulary;
        this.shapes = shapes;
        this.runner = runner;
        this.pages = pages;
        this.thorough = thorough;
        this.prompts = prompts(prompts);
    }

    /** Returns differences found, the first of each comparison, each naming functions and shapes. */
    List<String> findings() {
        return findings;
    }

    private List<int[]> prompts(int count) {
        SplittableRandom random = new SplittableRandom(SEED);
        int most = Math.min(shapes.maximumTokens() - 1, tokensOfRows(1));
        int stride = shapes.stride();
        int longest = Math.max(1, Math.min(most, longest()));
        List<Integer> lengths = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lengths.add(count == 1 ? longest : 1 + (longest - 1) * i / (count - 1));
        }
        if (thorough) { // ends of pages and pieces, and a prompt of three pieces
            int piece = shapes.chunkPages() * stride;
            for (int length :
                    new int[] {stride - 1, stride, stride + 1, piece, piece + 1, 2 * piece + stride / 2 + 1}) {
                lengths.add(Math.clamp(length, 1, Math.max(1, most)));
            }
        }
        return lengths.stream()
                .sorted()
                .map(length -> random.ints(length, 0, vocabulary).toArray())
                .toList();
    }

    /** Returns the length of the longest prompt of a start: a thorough probe measures longer prompts as a start does. */
    private int longest() {
        return 2 * shapes.stride() + shapes.stride() / 2 + 1;
    }

    private boolean isThorough(int[] prompt) {
        return thorough && prompt.length <= longest();
    }

    /** Returns the most tokens of prompts in so many rows with pages of their own, two further tokens left out; 0 for none. */
    private int tokensOfRows(int rows) {
        return Math.max(0, (pages - 1) / rows * shapes.stride() - 2);
    }

    /** Measures all functions; of a program whose rows are not independent, the functions for the fewest sequences. */
    Measured measure() {
        Measured measured = measureAll();
        differences.forEach((how, count) -> {
            if (count > SHOWN) {
                findings.add("%s: %d differences in all".formatted(how, count));
            }
        });
        return measured;
    }

    private Measured measureAll() {
        Entry prefill = allPrefills.getLast();
        Entry decode = allDecodes.getLast();
        int batch = Math.max(prefill.batch(), decode.batch());
        int most = tokensOfRows(batch);
        boolean rows = most > 0;
        if (!rows) {
            findings.add("beside other rows: not measured, since a cache of %d pages has too few for %d rows"
                    .formatted(pages, batch));
        }
        List<Entry> prefills = new ArrayList<>(allPrefills);
        List<Entry> decodes = new ArrayList<>(allDecodes);
        for (int[] each : rows ? prompts : List.<int[]>of()) {
            int[] prompt = each.length <= most ? each : Arrays.copyOf(each, most);
            Run reference = withMoreColumn(prompt, prefill, decode);
            rows &= isEqualAmong(reference, prompt, prefill, decode, places(prompt, batch), "beside other rows");
            // The prompt is in the pages, if rows are equal.
            decodes.removeIf(other -> !other.equals(decode)
                    && !isEqualAmong(
                            reference, prompt, null, other, placesOfOther(prompt, other), "by '" + other + "'"));
            prefills.removeIf(other -> !other.equals(prefill)
                    && !isEqualAmong(
                            reference, prompt, other, decode, placesOfOther(prompt, other), "by '" + other + "'"));
        }
        if (rows) {
            boolean anyShape = true;
            int pairs = thorough ? Math.max(prefills.size(), decodes.size()) : 1;
            for (int i = 1; i <= pairs; i++) { // from the largest functions
                anyShape &= dependsOnNoShape(
                        prefills.get(Math.max(0, prefills.size() - i)), decodes.get(Math.max(0, decodes.size() - i)));
            }
            boolean alike = anyShape && prefillPosition && alike(prefill, decode);
            return new Measured(prefills, decodes, true, anyShape, alike, alike && everyToken.containsAll(prefills));
        }
        Entry smallPrefill = allPrefills.getFirst();
        Entry smallDecode = allDecodes.getFirst();
        boolean anyShape = dependsOnNoShape(smallPrefill, smallDecode);
        return new Measured(List.of(smallPrefill), List.of(smallDecode), false, anyShape, false, false);
    }

    /**
     * Returns whether prefill and decode functions compute equal bits: logits of tokens, and keys and values, which later
     * logits depend on. A difference is no finding, since generation without exchange of functions needs no equality.
     */
    private boolean alike(Entry prefill, Entry decode) {
        int stride = shapes.stride();
        if (prompts.getLast().length <= stride) {
            return false; // unknown
        }
        for (int[] each : prompts) {
            int[] prompt = Arrays.copyOf(each, Math.min(each.length, (thorough ? 2 : 1) * stride + 3));
            byte[][] reference = logits(prefill, prompt, 0, prompt.length, new byte[prompt.length][]);
            byte[][] decoded = new byte[prompt.length][];
            for (int at = 0; at < prompt.length; at++) {
                logits(decode, prompt, at, 1, decoded);
            }
            if (!isEqual(reference, decoded)) {
                return false;
            }
            if (prompt.length > stride) { // behind a page of decode steps
                logits(prefill, prompt, stride, prompt.length - stride, decoded);
                if (!isEqual(reference, decoded)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Computes tokens in row 0, and sets the logits after each token, or only after the last. */
    private byte[][] logits(Entry entry, int[] prompt, int from, int count, byte[][] all) {
        int pagesRead = shapes.pagesFor(from + count) - from / shapes.stride();
        int columns = Math.max(shapes.pagesFor(from + count), StepShapes.MINIMUM_COLUMNS);
        Step step = new Step(entry, entry.prefill() ? pagesRead * shapes.stride() : 1, columns);
        step.set(0, prompt, from, count);
        for (int i = 0; i < shapes.pagesFor(from + count); i++) {
            step.setPage(0, i, 1 + i);
        }
        Logits logits = new Logits(true);
        runner.run(step, logits);
        for (int i = logits.tokensPerRow() > 1 ? 0 : count - 1; i < count; i++) {
            all[from + i] = logits.evidence(0, i);
        }
        return all;
    }

    private static boolean isEqual(byte[][] reference, byte[][] other) {
        for (int i = 0; i < reference.length; i++) {
            if (reference[i] != null && !Arrays.equals(reference[i], other[i])) {
                return false;
            }
        }
        return true;
    }

    private boolean dependsOnNoShape(Entry prefill, Entry decode) {
        boolean equal = true;
        for (int[] prompt : prompts) {
            Run reference = alone(prompt, prefill, decode, 0);
            int room = shapes.maximumColumns() - shapes.pagesFor(prompt.length + 1);
            for (int more : numbers(isThorough(prompt), room)) {
                Run wider = more == 1 ? withMoreColumn(prompt, prefill, decode) : alone(prompt, prefill, decode, more);
                equal &= equal(reference, wider, "in more columns");
            }
            int promptPages = shapes.pagesFor(prompt.length);
            if (prefillPosition && promptPages > 1) {
                for (int piece : pieces(prompt, Math.min(promptPages, shapes.chunkPages()) - 1)) {
                    equal &= equal(
                            reference,
                            run(prompt, prefill, decode, 0, Neighbours.PADDING, 0, piece),
                            piece == 1 ? "page by page" : "in pieces of %d pages".formatted(piece));
                }
            }
        }
        if (prefillPosition && prompts.getLast().length <= shapes.stride() && shapes.chunkPages() > 1) {
            findings.add("page by page: not measured, since a cache of %d pages has no room".formatted(pages));
            return false;
        }
        return equal;
    }

    /** Runs a prompt in row 0, with padding in the other rows. */
    private Run alone(int[] prompt, Entry prefill, Entry decode, int more) {
        return run(prompt, prefill, decode, 0, Neighbours.PADDING, more, shapes.chunkPages());
    }

    /** Runs a prompt alone, with a column that neighbours may use to begin behind the row. */
    private Run withMoreColumn(int[] prompt, Entry prefill, Entry decode) {
        List<Object> key = List.of(new IntKey(prompt), prefill, decode);
        Run known = alone.get(key);
        if (known == null) {
            known = alone(prompt, prefill, decode, 1);
            alone.put(key, known);
        }
        return known;
    }

    /** Returns whether a prompt has the bits of a reference in each of some rows, with other prompts in other rows. */
    private boolean isEqualAmong(
            Run reference, int[] prompt, @Nullable Entry prefill, Entry decode, Set<Integer> places, String how) {
        boolean equal = true;
        for (int place : places) {
            for (Neighbours neighbours : isThorough(prompt) ? Neighbours.ANY : Neighbours.FEW) {
                equal &= equal(reference, run(prompt, prefill, decode, place, neighbours, 1, shapes.chunkPages()), how);
            }
        }
        return equal;
    }

    /** Returns rows of the largest function: all, or row 1, 2, 4 … and the last. */
    private Set<Integer> places(int[] prompt, int batch) {
        Set<Integer> places = new TreeSet<>();
        boolean all = isThorough(prompt);
        for (int place = all ? 0 : 1; place < batch; place = all ? place + 1 : place * 2) {
            places.add(place);
        }
        if (batch > 1) {
            places.add(batch - 1);
        }
        return places;
    }

    /** Returns rows of a smaller function: all, or the last. */
    private Set<Integer> placesOfOther(int[] prompt, Entry other) {
        return isThorough(prompt) ? places(prompt, other.batch()) : Set.of(other.batch() - 1);
    }

    /** Returns numbers from 1 to a limit: the first and the last, or all small numbers, and powers of two and beside. */
    private static Set<Integer> numbers(boolean many, int limit) {
        Set<Integer> numbers = new TreeSet<>(List.of(1, limit));
        for (int i = 2; many && i <= EACH_UP_TO; i++) {
            numbers.add(i);
        }
        for (int i = 2 * EACH_UP_TO; many && i - 1 <= limit; i *= 2) {
            numbers.addAll(List.of(i - 1, i, i + 1));
        }
        numbers.removeIf(each -> each < 1 || each > limit);
        return numbers;
    }

    /** Returns sizes of pieces up to a limit, in pages. */
    private Set<Integer> pieces(int[] prompt, int limit) {
        Set<Integer> pieces = thorough ? numbers(isThorough(prompt), limit) : new TreeSet<>(List.of(1));
        if (thorough && limit > 1) {
            pieces.add(2);
        }
        return pieces;
    }

    /** The rows beside a row. */
    private enum Neighbours {
        PADDING("padding"),
        OTHER("rows with other positions and lengths"),
        SINGLE("a single row"),
        ALIKE("rows with the same position and length"),
        FULL("rows as long as possible"),
        DRAWN("rows with drawn positions and lengths");

        static final List<Neighbours> FEW = List.of(OTHER);
        static final List<Neighbours> ANY = List.of(OTHER, SINGLE, ALIKE, FULL, DRAWN);

        private final String words;

        Neighbours(String words) {
            this.words = words;
        }
    }

    /** The logits of a prompt's end, unless that was in the pages, and of two decode steps, as bytes. */
    private record Run(List<byte[]> logits, String description) {}

    private boolean equal(Run reference, Run other, String how) {
        int left = reference.logits.size() - other.logits.size();
        for (int i = left; i < reference.logits.size(); i++) {
            int at = Arrays.mismatch(reference.logits.get(i), other.logits.get(i - left));
            if (at >= 0) {
                if (differences.merge(how, 1, Integer::sum) <= SHOWN) {
                    findings.add("%s: %s of %s, byte %d of logits differs from %s"
                            .formatted(
                                    how, i == 0 ? "prefill" : "decode", other.description, at, reference.description));
                }
                return false;
            }
        }
        return true;
    }

    /**
     * Computes a prompt and two further tokens.
     *
     * @param prefill computes the prompt; null if the prompt is in the pages
     * @param place the wanted row; the last row of smaller functions
     * @param neighbours the other rows
     * @param more columns beyond the smallest number
     * @param chunk pages of the prompt read by a step
     */
    private Run run(
            int[] prompt,
            @Nullable Entry prefill,
            Entry decode,
            int place,
            Neighbours neighbours,
            int more,
            int chunk) {
        List<byte[]> logits = new ArrayList<>();
        int promptPages = shapes.pagesFor(prompt.length);
        for (int from = 0; prefill != null && from < prompt.length; ) {
            int first = from / shapes.stride();
            int read = prefillPosition
                    ? Math.min(promptPages - first, chunk)
                    : Math.max(promptPages, StepShapes.MINIMUM_COLUMNS);
            int columns = Math.min(shapes.maximumColumns(), Math.max(first + read, StepShapes.MINIMUM_COLUMNS) + more);
            int wide = prefillPosition ? read : columns;
            int count = Math.min(prompt.length - from, wide * shapes.stride());
            byte[] end = step(prefill, prompt, from, count, wide * shapes.stride(), columns, place, neighbours);
            from += count;
            if (from == prompt.length) {
                logits.add(end);
            }
        }
        int[] tokens = Arrays.copyOf(prompt, prompt.length + 2);
        tokens[prompt.length] = prompt[0];
        for (int at = prompt.length; at < tokens.length && at < shapes.maximumTokens(); at++) {
            int columns = Math.min(
                    shapes.maximumColumns(), Math.max(shapes.pagesFor(at + 1), StepShapes.MINIMUM_COLUMNS) + more);
            logits.add(step(decode, tokens, at, 1, 1, columns, place, neighbours));
        }
        return new Run(
                logits,
                "%d tokens by '%s' and '%s' in row %d with %d more columns beside %s"
                        .formatted(
                                prompt.length,
                                prefill == null ? decode : prefill,
                                decode,
                                place,
                                more,
                                neighbours.words));
    }

    private byte[] step(
            Entry entry,
            int[] tokens,
            int from,
            int count,
            int tokensPerRow,
            int columns,
            int place,
            Neighbours neighbours) {
        Step step = new Step(entry, tokensPerRow, columns);
        int row = Math.min(place, entry.batch() - 1);
        set(step, row, tokens, from, count, 1);
        int others = switch (neighbours) {
            case PADDING -> 0;
            case SINGLE -> 1;
            case OTHER, ALIKE, FULL, DRAWN -> entry.batch() - 1;
        };
        for (int i = 1; i <= Math.min(others, entry.batch() - 1); i++) {
            setNeighbour(step, (row + i) % entry.batch(), tokens, from, count, i, neighbours);
        }
        Logits logits = new Logits();
        runner.run(step, logits);
        if (logits.tokensPerRow() > 1) {
            everyToken.add(entry);
        }
        return logits.evidence(row, count - 1);
    }

    private void set(Step step, int row, int[] tokens, int from, int count, int page) {
        step.set(row, tokens, from, count);
        for (int i = 0; i < shapes.pagesFor(from + count); i++) {
            step.setPage(row, i, page + i);
        }
    }

    /**
     * Sets a neighbour of a row, in other pages.
     *
     * @param from position of the first token that the row reads
     * @param count number of tokens that the row reads
     * @param number place among the neighbours, from 1
     */
    private void setNeighbour(
            Step step, int row, int[] tokens, int from, int count, int number, Neighbours neighbours) {
        int stride = shapes.stride();
        int ownPages = (pages - 1) / step.entry().batch();
        int columns = Math.min(step.columns(), ownPages);
        boolean prefill = step.entry().prefill();
        int wide = step.tokensPerRow();
        int mostRead = prefill ? Math.min(wide, columns * stride) : 1;
        // Prefills begin with a page, and end within the columns.
        int unit = prefill ? stride : 1;
        int pageStarts = prefillPosition ? Math.max(1, columns - wide / stride + 1) : 1;
        int starts = prefill ? pageStarts : columns * stride;
        SplittableRandom random = new SplittableRandom(SEED + 31L * from + number);
        int start = unit
                * switch (neighbours) {
                    case PADDING, OTHER, SINGLE ->
                        prefill ? (from / stride + number) % starts : (from + number * (stride + 1)) % starts;
                    case ALIKE -> Math.min(from / unit, starts - 1);
                    case FULL -> starts - 1;
                    case DRAWN -> random.nextInt(starts);
                };
        int read = switch (neighbours) {
            case PADDING, OTHER, SINGLE -> prefill ? 1 + number * (stride + 1) % mostRead : 1;
            case ALIKE -> Math.min(count, mostRead);
            case FULL -> mostRead;
            case DRAWN -> random.nextInt(1, mostRead + 1);
        };
        int[] others = new int[start + read];
        for (int i = 0; i < others.length; i++) {
            others[i] = (tokens[i % tokens.length] + number) % vocabulary;
        }
        set(step, row, others, start, read, 1 + number * ownPages);
    }
}
