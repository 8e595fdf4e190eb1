package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.flatbuffer.FlatBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.ProgramTrace.Source;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names and source locations of a module's functions, read on demand. For messages only: damaged entries read as
 * absent, and long entries are truncated.
 *
 * <p>Slots and unions as in {@code iree/schemas/bytecode_module_def.fbs}, {@code DebugDatabaseDef}. Safe from any
 * thread, while the module is open.
 */
@NotForApplications
public final class DebugDatabase {
    private static final int CALL_SITE = 1;
    private static final int FILE_LINE_COLUMN = 2;
    private static final int FUSED = 3;
    private static final int NAMED = 4;

    /** Limits of a traversal: locations may form cycles, and refer to the same location many times. */
    private static final int MAX_DEPTH = 16;

    private static final int MAX_VISITED = 64;
    private static final int MAX_SOURCES = 16;
    private static final int MAX_TEXT = 512;

    private final FlatBuffer buffer;
    private final FlatBuffer.Vector kinds;
    private final FlatBuffer.Vector locations;
    private final FlatBuffer.Vector functions;
    private final int maxEntries;
    /** For each function of the module the index of the function's entry in the database, or -1. */
    private final int[] entries;

    private DebugDatabase(FlatBuffer.Table table, int maxEntries, @Nullable String[] exportNames) {
        this.buffer = table.buffer();
        this.kinds = table.vector("location kinds", 0, 1, Integer.MAX_VALUE);
        this.locations = table.vector("locations", 1, 4, Integer.MAX_VALUE);
        this.functions = table.vector("function source maps", 2, 4, maxEntries);
        this.maxEntries = maxEntries;
        this.entries = entries(exportNames);
    }

    /**
     * Finds the entries of functions. There should be an entry for each function, in order. Compilers until at least
     * 2026 omit most entries: the compilers number functions after the ordinals are gone, so each entry overwrites the
     * previous entry. The remaining entries are matched by name.
     */
    private int[] entries(@Nullable String[] exportNames) {
        int[] found = new int[exportNames.length];
        boolean inOrder = functions.count() == exportNames.length;
        Map<String, Integer> byName = new HashMap<>();
        for (int i = 0; i < functions.count() && !inOrder; i++) {
            byName.put(text(functions.table(i), "function name", 0), i);
        }
        for (int i = 0; i < found.length; i++) {
            String name = exportNames[i];
            found[i] = inOrder ? i : name == null ? -1 : byName.getOrDefault(name, -1);
        }
        return found;
    }

    private int entry(int function) {
        return function >= 0 && function < entries.length ? entries[function] : -1;
    }

    /**
     * Reads the database; returns null when damaged.
     *
     * @param exportNames for each function of the module an export name, or null
     */
    static @Nullable DebugDatabase read(
            FlatBuffer.Table module, int slot, int maxEntries, @Nullable String[] exportNames) {
        try {
            FlatBuffer.Table table = module.table("debug database", slot);
            return table == null ? null : new DebugDatabase(table, maxEntries, exportNames);
        } catch (IreeException e) {
            return null;
        } finally {
            module.buffer().renew();
        }
    }

    /**
     * Returns a function's name in the source.
     *
     * @param function the index of the function
     * @return the name, or null when there is none
     */
    public synchronized @Nullable String functionName(int function) {
        try {
            buffer.renew();
            int entry = entry(function);
            if (entry < 0) {
                return null;
            }
            String name = text(functions.table(entry), "function name", 0);
            return name.isEmpty() ? null : name;
        } catch (IreeException e) {
            return null;
        }
    }

    /**
     * Returns the source location of an instruction, with the inlining call sites and the fused places.
     *
     * @param function index of the function
     * @param offset offset of the instruction
     * @return the place itself first; empty when not recorded
     */
    public synchronized List<Source> sources(int function, int offset) {
        Reader reader = new Reader();
        try {
            buffer.renew();
            int entry = entry(function);
            if (entry >= 0) {
                FlatBuffer.Vector map = functions.table(entry).vector("locations", 1, 8, maxEntries);
                for (int i = 0; i < map.count(); i++) {
                    if (map.i32(i, 0) == offset) {
                        reader.read(map.i32(i, 4), "", 0);
                        break;
                    }
                }
            }
        } catch (IreeException e) {
            // keeps the sources read so far
        }
        return reader.sources;
    }

    private static String text(FlatBuffer.Table table, String what, int slot) {
        String text = table.string(what, slot, MAX_TEXT);
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().map(c -> Character.isISOControl(c) ? '?' : c).forEach(printable::appendCodePoint);
        return printable.toString();
    }

    /** Reads a location with the locations referred to. */
    private final class Reader {
        private final List<Source> sources = new ArrayList<>();
        private int visited;

        void read(int location, String name, int depth) {
            if (location < 0
                    || location >= locations.count()
                    || location >= kinds.count()
                    || depth > MAX_DEPTH
                    || ++visited > MAX_VISITED
                    || sources.size() >= MAX_SOURCES) {
                return;
            }
            FlatBuffer.Table table = locations.table(location);
            switch (kinds.u8(location)) {
                case CALL_SITE -> {
                    read(table.i32("callee", 0, 0), name, depth + 1);
                    read(table.i32("caller", 1, 0), "", depth + 1);
                }
                case FILE_LINE_COLUMN ->
                    add(new Source(
                            name,
                            text(table, "file", 0),
                            Math.max(0, table.i32("line", 1, 0)),
                            Math.max(0, table.i32("column", 2, 0))));
                case FUSED -> {
                    FlatBuffer.Vector parts = table.vector("fused locations", 1, 4, maxEntries);
                    for (int i = 0; i < Math.min(parts.count(), MAX_SOURCES); i++) {
                        read(parts.i32(i, 0), name, depth + 1);
                    }
                }
                case NAMED -> {
                    String own = text(table, "location name", 0);
                    int before = sources.size();
                    read(table.i32("child location", 1, 0), own, depth + 1);
                    if (sources.size() == before && !own.isEmpty()) {
                        add(new Source(own, null, 0, 0));
                    }
                }
                default -> {} // a kind of a later release
            }
        }

        private void add(Source source) {
            if (!sources.contains(source)) {
                sources.add(source);
            }
        }
    }
}
