package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Names and source locations of a module's functions, read when somebody asks. Only for messages: what is damaged reads as absent.
 *
 * <p>Slots and unions as in {@code iree/schemas/bytecode_module_def.fbs}, {@code DebugDatabaseDef}.
 */
public final class DebugDatabase {
    private static final int CALL_SITE = 1;
    private static final int FILE_LINE_COLUMN = 2;
    private static final int FUSED = 3;
    private static final int NAMED = 4;
    private static final int MAX_DEPTH = 8;

    private final FlatBuffer.Vector kinds;
    private final FlatBuffer.Vector locations;
    private final FlatBuffer.Vector functions;
    private final int maxEntries;

    private DebugDatabase(
            FlatBuffer.Vector kinds, FlatBuffer.Vector locations, FlatBuffer.Vector functions, int maxEntries) {
        this.kinds = kinds;
        this.locations = locations;
        this.functions = functions;
        this.maxEntries = maxEntries;
    }

    static DebugDatabase read(FlatBuffer.Table table, int maxEntries) {
        return new DebugDatabase(
                table.vector("location kinds", 0, 1, Integer.MAX_VALUE),
                table.vector("locations", 1, 4, Integer.MAX_VALUE),
                table.vector("function source maps", 2, 4, maxEntries),
                maxEntries);
    }

    /**
     * Returns a function's name in the source.
     *
     * @param function its index
     * @return the name, or null when there is none
     */
    public synchronized @Nullable String functionName(int function) {
        try {
            if (function >= functions.count()) {
                return null;
            }
            String name = functions.table(function).string("function name", 0);
            return name.isEmpty() ? null : name;
        } catch (IreeException e) {
            return null;
        }
    }

    /**
     * Finds where an instruction comes from.
     *
     * @param function index of the function
     * @param offset where the instruction starts
     * @return for example {@code model.py:12:3}, or null when the module does not say
     */
    public synchronized @Nullable String location(int function, int offset) {
        try {
            if (function >= functions.count()) {
                return null;
            }
            FlatBuffer.Vector map = functions.table(function).vector("locations", 1, 8, maxEntries);
            for (int i = 0; i < map.count(); i++) {
                if (map.i32(i, 0) == offset) {
                    return format(map.i32(i, 4), 0);
                }
            }
            return null;
        } catch (IreeException e) {
            return null;
        }
    }

    private @Nullable String format(int location, int depth) {
        if (location < 0 || location >= locations.count() || location >= kinds.count() || depth > MAX_DEPTH) {
            return null;
        }
        FlatBuffer.Table table = locations.table(location);
        switch (kinds.u8(location)) {
            case CALL_SITE:
                return format(table.i32("callee", 0, 0), depth + 1);
            case FILE_LINE_COLUMN:
                return "%s:%d:%d"
                        .formatted(table.string("file", 0), table.i32("line", 1, 0), table.i32("column", 2, 0));
            case FUSED:
                FlatBuffer.Vector parts = table.vector("fused locations", 1, 4, maxEntries);
                return parts.count() == 0 ? null : format(parts.i32(0, 0), depth + 1);
            case NAMED:
                String child = format(table.i32("child location", 1, 0), depth + 1);
                String name = table.string("location name", 0);
                return child == null ? name : name + " at " + child;
            default:
                return null;
        }
    }
}
