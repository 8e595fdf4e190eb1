package io.github.iree4j.tools;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Writes measurements in formats read by Google Benchmark's tools. */
abstract class BenchmarkReport {
    /** Unit of the times written. */
    enum Unit {
        ns(1e9),
        us(1e6),
        ms(1e3);

        final double perSecond;

        Unit(double perSecond) {
            this.perSecond = perSecond;
        }
    }

    final PrintWriter out;

    private BenchmarkReport(PrintWriter out) {
        this.out = out;
    }

    abstract void begin(int nameWidth);

    abstract void add(Row row);

    abstract void end();

    /** A line of the report. */
    record Row(String name, int family, int repetitions, Unit unit, Measurement measurement) {
        String fullName() {
            return measurement.statistic().isEmpty() ? name : name + "_" + measurement.statistic();
        }

        double real() {
            return measurement.realSeconds() * (measurement.isRatio() ? 1 : unit.perSecond);
        }

        double cpu() {
            return measurement.cpuSeconds() * (measurement.isRatio() ? 1 : unit.perSecond);
        }
    }

    /** A table. */
    static BenchmarkReport console(PrintWriter out) {
        return new Console(out);
    }

    /** A JSON document. */
    static BenchmarkReport json(PrintWriter out) {
        return new Json(out);
    }

    private static final class Console extends BenchmarkReport {
        private int width;

        Console(PrintWriter out) {
            super(out);
        }

        @Override
        void begin(int nameWidth) {
            width = Math.max(10, nameWidth);
            String header = ("%-" + width + "s %13s %15s %12s UserCounters...")
                    .formatted("Benchmark", "Time", "CPU", "Iterations");
            String rule = "-".repeat(header.length());
            out.println(rule);
            out.println(header);
            out.println(rule);
            out.flush();
        }

        @Override
        void add(Row row) {
            Measurement m = row.measurement();
            String counter;
            String times;
            if (m.isRatio()) {
                times = String.format(Locale.ROOT, "%10.2f %%    %10.2f %%   ", 100 * row.real(), 100 * row.cpu());
                counter = String.format(Locale.ROOT, "%.2f%%", 100 * m.itemsPerSecond());
            } else {
                String unit = row.unit().name();
                times = "%s %-4s %s %-4s".formatted(time(row.real()), unit, time(row.cpu()), unit);
                counter = rate(m.itemsPerSecond()) + "/s";
            }
            out.println(("%-" + width + "s %s %10d items_per_second=%s")
                    .formatted(row.fullName(), times, m.iterations(), counter));
            out.flush();
        }

        /** Three significant digits or so. */
        private static String time(double time) {
            String format = time < 1 ? "%10.3f" : time < 10 ? "%10.2f" : time < 100 ? "%10.1f" : "%10.0f";
            return String.format(Locale.ROOT, time > 9_999_999_999.0 ? "%1.4e" : format, time);
        }

        private static String rate(double perSecond) {
            String[] prefixes = {"", "k", "M", "G", "T"};
            int i = 0;
            double value = perSecond;
            while (value >= 1000 && i < prefixes.length - 1) {
                value /= 1000;
                i++;
            }
            return new java.math.BigDecimal(value)
                            .round(new java.math.MathContext(6))
                            .stripTrailingZeros()
                            .toPlainString()
                    + prefixes[i];
        }

        @Override
        void end() {
            out.flush();
        }
    }

    private static final class Json extends BenchmarkReport {
        private boolean first = true;

        Json(PrintWriter out) {
            super(out);
        }

        @Override
        void begin(int nameWidth) {
            out.println("{");
            out.println("  \"context\": {");
            out.println("    \"date\": \"%s\",".formatted(OffsetDateTime.now().truncatedTo(ChronoUnit.SECONDS)));
            out.println("    \"host_name\": %s,".formatted(quoted(host())));
            out.println("    \"executable\": \"iree4j benchmark\",");
            out.println("    \"num_cpus\": " + Runtime.getRuntime().availableProcessors() + ",");
            out.println("    \"java_version\": %s,"
                    .formatted(quoted(Runtime.version().toString())));
            out.println("    \"library_build_type\": \"release\"");
            out.println("  },");
            out.print("  \"benchmarks\": [");
        }

        private static String host() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "unknown";
            }
        }

        @Override
        void add(Row row) {
            Measurement m = row.measurement();
            boolean run = m.statistic().isEmpty();
            out.println(first ? "" : ",");
            first = false;
            out.println("    {");
            field("name", quoted(row.fullName()));
            field("family_index", Integer.toString(row.family()));
            field("per_family_instance_index", "0");
            field("run_name", quoted(row.name()));
            field("run_type", run ? "\"iteration\"" : "\"aggregate\"");
            field("repetitions", Integer.toString(row.repetitions()));
            if (run) {
                field("repetition_index", Integer.toString(m.repetition()));
            }
            field("threads", "1");
            if (!run) {
                field("aggregate_name", quoted(m.statistic()));
                field("aggregate_unit", m.isRatio() ? "\"percentage\"" : "\"time\"");
            }
            field("iterations", Long.toString(m.iterations()));
            field("real_time", Double.toString(row.real()));
            field("cpu_time", Double.toString(row.cpu()));
            field("time_unit", quoted(row.unit().name()));
            out.println("      \"items_per_second\": " + m.itemsPerSecond());
            out.print("    }");
        }

        private void field(String name, String value) {
            out.println("      \"%s\": %s,".formatted(name, value));
        }

        private static String quoted(String text) {
            StringBuilder quoted = new StringBuilder("\"");
            for (char c : text.toCharArray()) {
                if (c == '"' || c == '\\') {
                    quoted.append('\\').append(c);
                } else if (c < ' ') {
                    quoted.append("\\u%04x".formatted((int) c));
                } else {
                    quoted.append(c);
                }
            }
            return quoted.append('"').toString();
        }

        @Override
        void end() {
            out.println();
            out.println("  ]");
            out.println("}");
            out.flush();
        }
    }
}
