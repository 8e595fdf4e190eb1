package io.github.iree4j.hal.local;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchObserver.Dispatch;
import io.github.iree4j.hal.schedule.DispatchObserver.Outcome;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Commands of a region of an execution, cut into tiles that any thread may run: workgroups of a dispatch, pieces of a
 * transfer. The tiles of all commands are numbered consecutively. Reusable; allocates only when constructed.
 */
final class Region {
    /** Maximum number of commands of a region; an implicit barrier follows. Bounds the state kept per running command. */
    static final int COMMANDS_LIMIT = 255;

    /** Transfers are cut into pieces of 64 KiB: the caches of a core, and a few microseconds of work. */
    static final int PIECE_SHIFT = 16;

    /** Approximate duration of a piece of a transfer. */
    private static final int PIECE_NANOS = 8_000;

    /** log2 of the maximum number of tiles of a command, so the tiles of a region fit an int; bigger commands have bigger tiles. */
    private static final int TILES_SHIFT = 23;

    /** Shift beyond any size: everything is a single tile. */
    private static final int ONE_TILE = 63;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    int count; // commands
    int tiles; // tiles of all commands
    final int[] at = new int[COMMANDS_LIMIT]; // position in the code
    final int[] start = new int[COMMANDS_LIMIT + 1]; // number of the first tile; then the total
    final long[] units = new long[COMMANDS_LIMIT]; // workgroups or bytes
    final int[] shift = new int[COMMANDS_LIMIT]; // log2 of the units of a tile
    final int[] nanos = new int[COMMANDS_LIMIT]; // duration of a tile, 0 when unknown
    final int[] x = new int[COMMANDS_LIMIT]; // workgroups of dispatches
    final int[] y = new int[COMMANDS_LIMIT];
    final int[] z = new int[COMMANDS_LIMIT];

    /**
     * Loads a region after the preceding regions are complete. Counts in buffers are read now.
     *
     * @throws io.github.iree4j.status.IreeException OUT_OF_RANGE for counts impossible for a dispatch
     */
    void load(Recording recording, PinnedBuffers pins, int region) {
        int first = recording.firstCommand(region);
        int commands = recording.firstCommand(region + 1) - first;
        int total = 0;
        for (int i = 0; i < commands; i++) {
            int position = recording.commands()[first + i];
            at[i] = position;
            start[i] = total;
            total += cut(recording, pins, position, i);
        }
        start[commands] = total;
        count = commands;
        tiles = total;
    }

    /** Returns the number of tiles of a command. */
    private int cut(Recording recording, PinnedBuffers pins, int position, int i) {
        long[] code = recording.code();
        long size;
        int unitShift;
        switch ((int) code[position]) {
            case Recording.FILL, Recording.UPDATE, Recording.COPY -> {
                size = pins.length(code, position + 1);
                unitShift = PIECE_SHIFT;
                nanos[i] = PIECE_NANOS;
            }
            default -> {
                size = workgroups(recording, pins, position, i);
                LocalExecutable program = LocalExecutable.of(recording, position);
                int export = recording.export(position);
                unitShift = program.export(export).isSequential() ? ONE_TILE : 0;
                nanos[i] = program.nanos(export, size, unitShift == 0 ? 1 : size);
            }
        }
        int tileShift = Math.max(unitShift, Long.SIZE - TILES_SHIFT - Long.numberOfLeadingZeros(size));
        if (tileShift > unitShift) {
            nanos[i] = (int) Math.min(Integer.MAX_VALUE, (long) nanos[i] << Math.min(31, tileShift - unitShift));
        }
        units[i] = size;
        shift[i] = tileShift;
        return (int) ((size + (1L << tileShift) - 1) >>> tileShift);
    }

    private long workgroups(Recording recording, PinnedBuffers pins, int position, int i) {
        long[] code = recording.code();
        if ((int) code[position] == Recording.DISPATCH) {
            x[i] = (int) (code[position + 2] >>> 32);
            y[i] = (int) code[position + 2];
            z[i] = (int) (code[position + 3] >>> 32);
        } else {
            int range = recording.counts(position);
            HostMemory.Block block = pins.block(code, range);
            long offset = pins.offset(code, range);
            x[i] = block.segment.get(INT, offset);
            y[i] = block.segment.get(INT, offset + 4);
            z[i] = block.segment.get(INT, offset + 8);
            ExecutableExport entry = recording.executable(position).export(recording.export(position));
            LocalCommands.checkCounts(entry, x[i], y[i], z[i]);
        }
        return Integer.toUnsignedLong(x[i]) * Integer.toUnsignedLong(y[i]) * z[i];
    }

    /** Returns a dispatch of the region, with times. */
    Dispatch dispatch(int command, long begin, long end, int workers, Outcome outcome) {
        return new Dispatch(
                Integer.toUnsignedLong(x[command]),
                Integer.toUnsignedLong(y[command]),
                z[command],
                begin,
                end,
                workers,
                outcome);
    }

    /** Returns the command containing a tile. */
    int commandOf(int tile) {
        int low = 0;
        int high = Math.min(count, COMMANDS_LIMIT) - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (start[middle] <= tile) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** Returns the first unit of a tile of a command. */
    long unit(int command, int tile) {
        int own = tile - start[command];
        return tile == start[command + 1] ? units[command] : (long) own << shift[command];
    }

    /** Returns the total duration of the tiles, in nanoseconds, counting {@code unknown} for each tile of unknown duration. */
    long nanos(int unknown) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += (long) (start[i + 1] - start[i]) * (nanos[i] == 0 ? unknown : nanos[i]);
        }
        return sum;
    }
}
