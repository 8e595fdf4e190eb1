package io.github.iree4j.load;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How many answers per second do callers get if all together need more memory than the device has, and is each caller
 * served? A cell is a number of callers, a way of calling, and a budget as a multiple of the peak of a call: the most
 * bytes live during a single call, measured first. {@link GoodputCell} describes the callers. A single blocking caller,
 * with the same budget, is measured before and after each cell: the ratio is the cell's rate to the mean of the two.
 *
 * <p>Run from the root of the repository after {@code ./mvnw -q package -DskipTests -pl benchmarks -am}; the whole
 * table takes eleven minutes:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.Goodput
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.Goodput ways=async,mixed budgets=1.2 callers=8 retries=yes seconds=4
 * }</pre>
 *
 * <p>Prints a row of a Markdown table for each cell. Exits with status 1 when a cell has less than {@value #BOUND} of a
 * single caller's rate, a failed call, a caller without an answer, or live bytes at the end.
 */
public final class Goodput {
    private static final double BOUND = 0.7;
    private static final double WARM_UP_SECONDS = 3;

    private final double seconds;
    private final GoodputCell.Device device;
    private int cells;
    private int beyond;

    private Goodput(double seconds, GoodputCell.Device device) {
        this.seconds = seconds;
        this.device = device;
    }

    /**
     * Measures.
     *
     * @param arguments {@code name=value}, each optional: {@code ways} (of {@link GoodputCell.Way}, in small letters), {@code budgets}, {@code
     *     callers} and {@code retries} (yes, no), with commas between values; {@code seconds} of each cell; {@code device} and {@code module}, the
     *     file of {@code outer} compiled for the device, and {@code fenced}, the file with functions taking fences
     * @throws InterruptedException when interrupted
     * @throws IOException when there is no such module
     */
    public static void main(String[] arguments) throws InterruptedException, IOException {
        List<GoodputCell.Way> ways = new ArrayList<>();
        for (String way : values(arguments, "ways", "blocking,async,mixed,fences,pipelines,backwards")) {
            ways.add(GoodputCell.Way.valueOf(way.toUpperCase(Locale.ROOT)));
        }
        double seconds = Double.parseDouble(value(arguments, "seconds", "1"));
        Goodput goodput = new Goodput(
                seconds,
                new GoodputCell.Device(
                        value(arguments, "device", "local"),
                        Path.of(value(arguments, "module", "fixtures/modules/3.13.0/cpu/outer.vmfb"))
                                .toRealPath(),
                        Path.of(value(arguments, "fenced", "fixtures/modules/3.13.0/cpu-async/outer.vmfb"))
                                .toRealPath()));
        goodput.start(ways);
        for (GoodputCell.Way way : ways) {
            for (String retries : values(arguments, "retries", "no,yes")) {
                for (String budget : values(arguments, "budgets", "1.05,1.2,1.5,2,3")) {
                    goodput.row(
                            way,
                            retries.equals("yes"),
                            Double.parseDouble(budget),
                            values(arguments, "callers", "1,2,4,8,16"));
                }
            }
        }
        System.out.printf("%n%d of %d cells are beyond a bound%n", goodput.beyond, goodput.cells);
        System.exit(goodput.beyond == 0 ? 0 : 1);
    }

    private static String value(String[] arguments, String name, String otherwise) {
        return Arrays.stream(arguments)
                .filter(each -> each.startsWith(name + "="))
                .map(each -> each.substring(name.length() + 1))
                .findFirst()
                .orElse(otherwise);
    }

    private static String[] values(String[] arguments, String name, String otherwise) {
        return value(arguments, name, otherwise).split(",");
    }

    /** Makes HotSpot compile the measured code, and prints the bytes of a call. */
    private void start(List<GoodputCell.Way> ways) throws InterruptedException {
        for (GoodputCell.Way way : ways) {
            new GoodputCell(device, way, false, 2, 0).run(WARM_UP_SECONDS);
        }
        System.out.printf(
                "one call takes %,d bytes at most; %s s of each cell, %d processors%n%n",
                device.peak(), seconds, Runtime.getRuntime().availableProcessors());
        System.out.println(
                "| way | retries | budget | callers | answers/s | of one caller's | failed | slowest caller of mean"
                        + " | longest wait, ms | in turns of the line | live at the end |");
        System.out.println("|---|---|---|---|---|---|---|---|---|---|---|");
    }

    private void row(GoodputCell.Way way, boolean retries, double budget, String[] callers)
            throws InterruptedException {
        double before = one(budget);
        for (String each : callers) {
            int count = Integer.parseInt(each);
            GoodputCell.Outcome outcome = new GoodputCell(device, way, retries, count, budget).run(seconds);
            double after = one(budget);
            double ratio = 2 * outcome.rate() / (before + after);
            before = after;
            cells++;
            // A ratio that is no number, of none to none, is beyond the bound.
            boolean within = ratio >= BOUND && outcome.failed() == 0 && outcome.least() > 0 && outcome.live() == 0;
            beyond += within ? 0 : 1;
            System.out.printf(
                    "| %s | %s | %s | %d | %.0f | %s%.2f%s | %d | %.2f | %.1f | %.1f | %,d |%n",
                    way.name().toLowerCase(Locale.ROOT),
                    retries ? "yes" : "no",
                    budget,
                    count,
                    outcome.rate(),
                    within ? "" : "**",
                    ratio,
                    within ? "" : "**",
                    outcome.failed(),
                    outcome.evenness(),
                    outcome.longestNanos() / 1e6,
                    outcome.longestNanos() / 1e9 * outcome.rate() / count,
                    outcome.live());
        }
    }

    /** The rate of a single blocking caller. */
    private double one(double budget) throws InterruptedException {
        return new GoodputCell(device, GoodputCell.Way.BLOCKING, false, 1, budget)
                .run(seconds / 2)
                .rate();
    }
}
