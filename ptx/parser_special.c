/* parser_special.c - PTX ISA, "Special Registers". The names with a vector of 4 have a
 * component .w that always reads as zero. `half` marks those that older programs read as 16 bits. */
#include "ptx/parser.h"

#define S(name, first, type) {"%" name, PTX_SR_##first, PTX_TYPE_##type, 1, false}
#define V(name, first, half) {"%" name, PTX_SR_##first##_X, PTX_TYPE_U32, 4, half}
#define E(n) {"%envreg" #n, (ptx_special)(PTX_SR_ENVREG0 + n), PTX_TYPE_B32, 1, false}
#define PM(n) S("pm" #n, PM, U32), S("pm" #n "_64", PM, U64)

const ptx_special_register ptx_special_registers[] = {
    V("tid", TID, true),
    V("ntid", NTID, true),
    V("ctaid", CTAID, true),
    V("nctaid", NCTAID, true),
    V("clusterid", CLUSTERID, false),
    V("nclusterid", NCLUSTERID, false),
    V("cluster_ctaid", CLUSTER_CTAID, false),
    V("cluster_nctaid", CLUSTER_NCTAID, false),
    S("laneid", LANEID, U32),
    S("warpid", WARPID, U32),
    S("nwarpid", NWARPID, U32),
    S("smid", SMID, U32),
    S("nsmid", NSMID, U32),
    {"%gridid", PTX_SR_GRIDID, PTX_TYPE_U64, 1, true},
    S("lanemask_eq", LANEMASK_EQ, U32),
    S("lanemask_le", LANEMASK_LE, U32),
    S("lanemask_lt", LANEMASK_LT, U32),
    S("lanemask_ge", LANEMASK_GE, U32),
    S("lanemask_gt", LANEMASK_GT, U32),
    S("clock", CLOCK, U32),
    S("clock_hi", CLOCK_HI, U32),
    S("clock64", CLOCK64, U64),
    S("globaltimer", GLOBALTIMER, U64),
    S("globaltimer_lo", GLOBALTIMER_LO, U32),
    S("globaltimer_hi", GLOBALTIMER_HI, U32),
    PM(0),
    PM(1),
    PM(2),
    PM(3),
    PM(4),
    PM(5),
    PM(6),
    PM(7),
    E(0),
    E(1),
    E(2),
    E(3),
    E(4),
    E(5),
    E(6),
    E(7),
    E(8),
    E(9),
    E(10),
    E(11),
    E(12),
    E(13),
    E(14),
    E(15),
    E(16),
    E(17),
    E(18),
    E(19),
    E(20),
    E(21),
    E(22),
    E(23),
    E(24),
    E(25),
    E(26),
    E(27),
    E(28),
    E(29),
    E(30),
    E(31),
    S("total_smem_size", TOTAL_SMEM_SIZE, U32),
    S("dynamic_smem_size", DYNAMIC_SMEM_SIZE, U32),
    S("aggr_smem_size", AGGR_SMEM_SIZE, U32),
    S("reserved_smem_offset_begin", RESERVED_SMEM_OFFSET_BEGIN, B32),
    S("reserved_smem_offset_end", RESERVED_SMEM_OFFSET_END, B32),
    S("reserved_smem_offset_cap", RESERVED_SMEM_OFFSET_CAP, B32),
    S("reserved_smem_offset_0", RESERVED_SMEM_OFFSET_0, B32),
    S("reserved_smem_offset_1", RESERVED_SMEM_OFFSET_1, B32),
    S("cluster_ctarank", CLUSTER_CTARANK, U32),
    S("cluster_nctarank", CLUSTER_NCTARANK, U32),
    S("is_explicit_cluster", IS_EXPLICIT_CLUSTER, PRED),
    S("current_graph_exec", CURRENT_GRAPH_EXEC, U64),
};
const uint32_t ptx_special_register_count = sizeof ptx_special_registers / sizeof *ptx_special_registers;

const char *ptx_special_name(ptx_special sr)
{
    static const char *const vectors[][3] = {
        {"%tid.x", "%tid.y", "%tid.z"}, {"%ntid.x", "%ntid.y", "%ntid.z"},
        {"%ctaid.x", "%ctaid.y", "%ctaid.z"}, {"%nctaid.x", "%nctaid.y", "%nctaid.z"},
        {"%clusterid.x", "%clusterid.y", "%clusterid.z"}, {"%nclusterid.x", "%nclusterid.y", "%nclusterid.z"},
        {"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z"},
        {"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z"},
    };
    for (uint32_t i = 0; i < ptx_special_register_count; i++) {
        const ptx_special_register *s = &ptx_special_registers[i];
        if (s->vector == 4 && sr >= s->first && sr < s->first + 3)
            return vectors[i][sr - s->first];
        if (s->vector == 1 && sr == s->first)
            return s->name;
    }
    return "?";
}
