package io.github.iree4j.spirv;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function that a dispatch runs, and the resources of the pipeline that it uses.
 *
 * @param name its name in the module
 * @param workgroupSizeX invocations of a workgroup along x, as specialised
 * @param workgroupSizeY invocations of a workgroup along y, as specialised
 * @param workgroupSizeZ invocations of a workgroup along z, as specialised
 * @param sizedById whether that size is given by constants ({@code LocalSizeId}), which requires feature maintenance4
 * @param workgroupBytes bytes of workgroup memory its variables take, without padding between them; a lower bound where a length is computed
 * @param pushConstantBytes bytes of push constants it may read, from 0 on
 * @param resources the buffers it uses, ordered by set and binding
 * @param foreignResource a resource in use that is not a buffer, in words: an image, for example; null for none
 */
public record SpirvEntryPoint(
        String name,
        int workgroupSizeX,
        int workgroupSizeY,
        int workgroupSizeZ,
        boolean sizedById,
        long workgroupBytes,
        int pushConstantBytes,
        List<SpirvResource> resources,
        @Nullable String foreignResource) {

    /** Copies the list. */
    public SpirvEntryPoint {
        resources = List.copyOf(resources);
    }
}
