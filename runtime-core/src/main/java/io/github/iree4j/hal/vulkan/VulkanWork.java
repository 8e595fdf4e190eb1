package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanCommands;

/** Recorded commands, lent for one execution. */
interface VulkanWork {

    /**
     * Returns what they are for.
     *
     * @return the name of the operation, for messages
     */
    String name();

    /**
     * Returns the commands. They begin with a barrier against everything submitted before, see {@code docs/decisions/0015-vulkan.md}.
     *
     * @return the commands, borrowed until {@link #over}
     */
    VulkanCommands commands();

    /**
     * The hardware is done with them, or will never run them. Called once, from any thread with no lock held; must not throw.
     */
    void over();
}
