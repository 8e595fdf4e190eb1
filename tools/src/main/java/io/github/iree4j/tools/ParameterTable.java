package io.github.iree4j.tools;

import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterEntry;
import io.github.iree4j.modules.parameters.ParameterOrigin;
import io.github.iree4j.modules.parameters.ParameterType;
import java.io.PrintWriter;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Prints the index of a parameter file like {@code iree-dump-parameters}, with types and shapes. */
final class ParameterTable {
    private static final String RULE = "//%s//%n".formatted("-".repeat(116));

    private ParameterTable() {}

    static void print(String scope, ParameterArchive archive, PrintWriter out) {
        long total = 0;
        for (ParameterEntry entry : archive.entries()) {
            total += entry.length();
        }
        out.print(RULE);
        out.println("// Parameter scope %s (%d entries, %d total bytes), %s '%s'"
                .formatted(
                        scope.isEmpty() ? "<global>" : "`" + scope + "`",
                        archive.entries().size(),
                        total,
                        archive.format().name().toLowerCase(Locale.ROOT),
                        archive.path()));
        out.print(RULE);
        out.println("//         Start |              End |           Length | Type                     | Key");
        out.print(RULE);
        for (ParameterEntry entry : archive.entries()) {
            out.println(row(entry, archive));
        }
        out.println();
    }

    private static String row(ParameterEntry entry, ParameterArchive archive) {
        return switch (entry) {
            case ParameterEntry.Splat splat ->
                row("-", "-", splat, "splat " + HexFormat.of().formatHex(splat.pattern()), "");
            case ParameterEntry.Stored stored -> {
                ParameterOrigin origin = stored.origin();
                if (origin == null) {
                    yield row("?", "?", stored, "-", "");
                }
                boolean elsewhere = !origin.file().equals(archive.path());
                yield row(
                        Long.toString(origin.offset()),
                        Long.toString(origin.offset() + stored.length()),
                        stored,
                        type(origin.type()),
                        elsewhere ? " in '" + origin.file() + "'" : "");
            }
        };
    }

    private static String row(String start, String end, ParameterEntry entry, String type, String where) {
        return "%16s | %16s | %16d | %-24s | `%s`%s".formatted(start, end, entry.length(), type, entry.key(), where);
    }

    private static String type(@Nullable ParameterType type) {
        return type == null ? "-" : type.toString();
    }
}
