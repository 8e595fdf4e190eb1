package io.github.iree4j.nativeaccess.vulkan;

/**
 * The operations of a recording ({@link VulkanCommands#record}), each followed by operands:
 *
 * <pre>
 *   BARRIER            source stage, source access, target stage, target access
 *   FILL               buffer, offset, size, pattern of 32 bits
 *   COPY               source, source offset, target, target offset, size
 *   DISPATCH           pipeline, mode, number of bindings, (buffer, offset, range) for each, push offset, push bytes,
 *                      (8 bytes of push constants) rounded up, x, y, z
 *   DISPATCH_INDIRECT  as DISPATCH, with buffer, offset in place of x, y, z
 *   UPDATE             buffer, offset, bytes, (8 bytes of data) rounded up; at most 65536 bytes
 * </pre>
 *
 * <p>Offsets and sizes of FILL and UPDATE are multiples of 4; COPY takes any. Stages and accesses have the bits of
 * {@code VkPipelineStageFlags2} and {@code VkAccessFlags2}.
 */
public final class VulkanWords {
    /** Orders earlier commands before later commands. */
    public static final long BARRIER = 1;
    /** Writes a pattern. */
    public static final long FILL = 2;
    /** Copies between buffers. */
    public static final long COPY = 3;
    /** Runs a pipeline. */
    public static final long DISPATCH = 4;
    /** Runs a pipeline with counts from a buffer. */
    public static final long DISPATCH_INDIRECT = 5;
    /** Writes data contained in the recording. */
    public static final long UPDATE = 6;

    /** Descriptors are recorded with the dispatch. */
    public static final long MODE_PUSH = 0;
    /** Descriptors can be changed between submissions ({@link VulkanCommands#bind}). */
    public static final long MODE_SETS = 1;
    /** No descriptors. */
    public static final long MODE_NONE = 2;

    /** Stage of indirect counts. */
    public static final long STAGE_DRAW_INDIRECT = 0x2L;
    /** Stage of dispatches. */
    public static final long STAGE_COMPUTE_SHADER = 0x800L;
    /** Stage of fills, copies and updates. */
    public static final long STAGE_ALL_TRANSFER = 0x1000L;
    /** Stage of the host. */
    public static final long STAGE_HOST = 0x4000L;
    /** All stages. */
    public static final long STAGE_ALL_COMMANDS = 0x10000L;

    /** Access of indirect counts. */
    public static final long ACCESS_INDIRECT_COMMAND_READ = 0x1L;
    /** Reads of uniform buffers. */
    public static final long ACCESS_UNIFORM_READ = 0x8L;
    /** Reads of shaders. */
    public static final long ACCESS_SHADER_READ = 0x20L;
    /** Writes of shaders. */
    public static final long ACCESS_SHADER_WRITE = 0x40L;
    /** Reads of copies. */
    public static final long ACCESS_TRANSFER_READ = 0x800L;
    /** Writes of fills, copies and updates. */
    public static final long ACCESS_TRANSFER_WRITE = 0x1000L;
    /** Reads of the host. */
    public static final long ACCESS_HOST_READ = 0x2000L;
    /** All reads. */
    public static final long ACCESS_MEMORY_READ = 0x8000L;
    /** All writes. */
    public static final long ACCESS_MEMORY_WRITE = 0x10000L;

    private VulkanWords() {}
}
