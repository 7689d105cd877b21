// SPDX-License-Identifier: MIT
// iba_opensm_test.cpp - component masks compared with OpenSM.
#include "iba_components.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/registry.hpp>

#include <cstring>
#include <iba/ib_types.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::iba;

namespace {

struct record_masks {
    std::string structure;
    std::vector<std::pair<std::string, ib_net64_t>> components; ///< bits in network byte order
};

// clang-format off
const std::vector<record_masks> opensm_masks{
    {"SAPathRecord", {
        {"serviceID",              IB_PR_COMPMASK_SERVICEID},
        {"DGID",                   IB_PR_COMPMASK_DGID},
        {"SGID",                   IB_PR_COMPMASK_SGID},
        {"DLID",                   IB_PR_COMPMASK_DLID},
        {"SLID",                   IB_PR_COMPMASK_SLID},
        {"rawTraffic",             IB_PR_COMPMASK_RAWTRAFFIC},
        {"reserved_353",           IB_PR_COMPMASK_RESV0},
        {"flowLabel",              IB_PR_COMPMASK_FLOWLABEL},
        {"hopLimit",               IB_PR_COMPMASK_HOPLIMIT},
        {"TClass",                 IB_PR_COMPMASK_TCLASS},
        {"reversible",             IB_PR_COMPMASK_REVERSIBLE},
        {"numbPath",               IB_PR_COMPMASK_NUMBPATH},
        {"PKey",                   IB_PR_COMPMASK_PKEY},
        {"QOSClass",               IB_PR_COMPMASK_QOS_CLASS},
        {"SL",                     IB_PR_COMPMASK_SL},
        {"MTUSelector",            IB_PR_COMPMASK_MTUSELEC},
        {"MTU",                    IB_PR_COMPMASK_MTU},
        {"rateSelector",           IB_PR_COMPMASK_RATESELEC},
        {"rate",                   IB_PR_COMPMASK_RATE},
        {"packetLifeTimeSelector", IB_PR_COMPMASK_PKTLIFETIMESELEC},
        {"packetLifeTime",         IB_PR_COMPMASK_PKTLIFETIME},
    }},
    {"SALinkRecord", {
        {"fromLID",  IB_LR_COMPMASK_FROM_LID},
        {"fromPort", IB_LR_COMPMASK_FROM_PORT},
        {"toPort",   IB_LR_COMPMASK_TO_PORT},
        {"toLID",    IB_LR_COMPMASK_TO_LID},
    }},
    {"SAVLArbitrationTableRecord", {
        {"LID",           IB_VLA_COMPMASK_LID},
        {"outputPortNum", IB_VLA_COMPMASK_OUT_PORT},
        {"blockNum",      IB_VLA_COMPMASK_BLOCK},
    }},
    {"SASLToVLMappingTableRecord", {
        {"LID",           IB_SLVL_COMPMASK_LID},
        {"inputPortNum",  IB_SLVL_COMPMASK_IN_PORT},
        {"outputPortNum", IB_SLVL_COMPMASK_OUT_PORT},
    }},
    {"SAPKeyTableRecord", {
        {"LID",      IB_PKEY_COMPMASK_LID},
        {"blockNum", IB_PKEY_COMPMASK_BLOCK},
        {"portNum",  IB_PKEY_COMPMASK_PORT},
    }},
    {"SASwitchInfoRecord", {
        {"LID",         IB_SWIR_COMPMASK_LID},
        {"reserved_16", IB_SWIR_COMPMASK_RESERVED1},
    }},
    {"SALinearForwardingTableRecord", {
        {"LID",      IB_LFTR_COMPMASK_LID},
        {"blockNum", IB_LFTR_COMPMASK_BLOCK},
    }},
    {"SAMulticastForwardingTableRecord", {
        {"LID",         IB_MFTR_COMPMASK_LID},
        {"position",    IB_MFTR_COMPMASK_POSITION},
        {"reserved_20", IB_MFTR_COMPMASK_RESERVED1},
        {"blockNum",    IB_MFTR_COMPMASK_BLOCK},
        {"reserved_32", IB_MFTR_COMPMASK_RESERVED2},
    }},
    {"SANodeRecord", {
        {"LID",                        IB_NR_COMPMASK_LID},
        {"reserved_16",                IB_NR_COMPMASK_RESERVED1},
        {"nodeInfo.baseVersion",       IB_NR_COMPMASK_BASEVERSION},
        {"nodeInfo.classVersion",      IB_NR_COMPMASK_CLASSVERSION},
        {"nodeInfo.nodeType",          IB_NR_COMPMASK_NODETYPE},
        {"nodeInfo.numPorts",          IB_NR_COMPMASK_NUMPORTS},
        {"nodeInfo.systemImageGUID",   IB_NR_COMPMASK_SYSIMAGEGUID},
        {"nodeInfo.nodeGUID",          IB_NR_COMPMASK_NODEGUID},
        {"nodeInfo.portGUID",          IB_NR_COMPMASK_PORTGUID},
        {"nodeInfo.partitionCap",      IB_NR_COMPMASK_PARTCAP},
        {"nodeInfo.deviceID",          IB_NR_COMPMASK_DEVID},
        {"nodeInfo.revision",          IB_NR_COMPMASK_REV},
        {"nodeInfo.localPortNum",      IB_NR_COMPMASK_PORTNUM},
        {"nodeInfo.vendorID",          IB_NR_COMPMASK_VENDID},
        {"nodeDescription.nodeString", IB_NR_COMPMASK_NODEDESC},
    }},
    {"SAServiceRecord", {
        {"serviceID",       IB_SR_COMPMASK_SID},
        {"serviceGID",      IB_SR_COMPMASK_SGID},
        {"servicePKey",     IB_SR_COMPMASK_SPKEY},
        {"reserved_208",    IB_SR_COMPMASK_RES1},
        {"serviceLease",    IB_SR_COMPMASK_SLEASE},
        {"serviceKey",      IB_SR_COMPMASK_SKEY},
        {"serviceName",     IB_SR_COMPMASK_SNAME},
        {"serviceData8_0",  IB_SR_COMPMASK_SDATA8_0},
        {"serviceData8_1",  IB_SR_COMPMASK_SDATA8_1},
        {"serviceData8_2",  IB_SR_COMPMASK_SDATA8_2},
        {"serviceData8_3",  IB_SR_COMPMASK_SDATA8_3},
        {"serviceData8_4",  IB_SR_COMPMASK_SDATA8_4},
        {"serviceData8_5",  IB_SR_COMPMASK_SDATA8_5},
        {"serviceData8_6",  IB_SR_COMPMASK_SDATA8_6},
        {"serviceData8_7",  IB_SR_COMPMASK_SDATA8_7},
        {"serviceData8_8",  IB_SR_COMPMASK_SDATA8_8},
        {"serviceData8_9",  IB_SR_COMPMASK_SDATA8_9},
        {"serviceData8_10", IB_SR_COMPMASK_SDATA8_10},
        {"serviceData8_11", IB_SR_COMPMASK_SDATA8_11},
        {"serviceData8_12", IB_SR_COMPMASK_SDATA8_12},
        {"serviceData8_13", IB_SR_COMPMASK_SDATA8_13},
        {"serviceData8_14", IB_SR_COMPMASK_SDATA8_14},
        {"serviceData8_15", IB_SR_COMPMASK_SDATA8_15},
        {"serviceData16_0", IB_SR_COMPMASK_SDATA16_0},
        {"serviceData16_1", IB_SR_COMPMASK_SDATA16_1},
        {"serviceData16_2", IB_SR_COMPMASK_SDATA16_2},
        {"serviceData16_3", IB_SR_COMPMASK_SDATA16_3},
        {"serviceData16_4", IB_SR_COMPMASK_SDATA16_4},
        {"serviceData16_5", IB_SR_COMPMASK_SDATA16_5},
        {"serviceData16_6", IB_SR_COMPMASK_SDATA16_6},
        {"serviceData16_7", IB_SR_COMPMASK_SDATA16_7},
        {"serviceData32_0", IB_SR_COMPMASK_SDATA32_0},
        {"serviceData32_1", IB_SR_COMPMASK_SDATA32_1},
        {"serviceData32_2", IB_SR_COMPMASK_SDATA32_2},
        {"serviceData32_3", IB_SR_COMPMASK_SDATA32_3},
        {"serviceData64_0", IB_SR_COMPMASK_SDATA64_0},
        {"serviceData64_1", IB_SR_COMPMASK_SDATA64_1},
    }},
    {"SAPortInfoRecord", {
        {"endportLID",                                   IB_PIR_COMPMASK_LID},
        {"portNum",                                      IB_PIR_COMPMASK_PORTNUM},
        {"reserved_24",                                  IB_PIR_COMPMASK_OPTIONS},
        {"portInfo.MKey",                                IB_PIR_COMPMASK_MKEY},
        {"portInfo.GIDPrefix",                           IB_PIR_COMPMASK_GIDPRE},
        {"portInfo.LID",                                 IB_PIR_COMPMASK_BASELID},
        {"portInfo.masterSMLID",                         IB_PIR_COMPMASK_SMLID},
        {"portInfo.capabilityMask",                      IB_PIR_COMPMASK_CAPMASK},
        {"portInfo.diagCode",                            IB_PIR_COMPMASK_DIAGCODE},
        {"portInfo.MKeyLeasePeriod",                     IB_PIR_COMPMASK_MKEYLEASEPRD},
        {"portInfo.localPortNum",                        IB_PIR_COMPMASK_LOCALPORTNUM},
        {"portInfo.linkWidthEnabled",                    IB_PIR_COMPMASK_LINKWIDTHENABLED},
        {"portInfo.linkWidthSupported",                  IB_PIR_COMPMASK_LNKWIDTHSUPPORT},
        {"portInfo.linkWidthActive",                     IB_PIR_COMPMASK_LNKWIDTHACTIVE},
        {"portInfo.linkSpeedSupported",                  IB_PIR_COMPMASK_LNKSPEEDSUPPORT},
        {"portInfo.portState",                           IB_PIR_COMPMASK_PORTSTATE},
        {"portInfo.portPhysicalState",                   IB_PIR_COMPMASK_PORTPHYSTATE},
        {"portInfo.linkDownDefaultState",                IB_PIR_COMPMASK_LINKDWNDFLTSTATE},
        {"portInfo.MKeyProtectBits",                     IB_PIR_COMPMASK_MKEYPROTBITS},
        {"portInfo.reserved_274",                        IB_PIR_COMPMASK_RESV2},
        {"portInfo.LMC",                                 IB_PIR_COMPMASK_LMC},
        {"portInfo.linkSpeedActive",                     IB_PIR_COMPMASK_LINKSPEEDACTIVE},
        {"portInfo.linkSpeedEnabled",                    IB_PIR_COMPMASK_LINKSPEEDENABLE},
        {"portInfo.neighborMTU",                         IB_PIR_COMPMASK_NEIGHBORMTU},
        {"portInfo.masterSMSL",                          IB_PIR_COMPMASK_MASTERSMSL},
        {"portInfo.VLCap",                               IB_PIR_COMPMASK_VLCAP},
        {"portInfo.initType",                            IB_PIR_COMPMASK_INITTYPE},
        {"portInfo.VLHighLimit",                         IB_PIR_COMPMASK_VLHIGHLIMIT},
        {"portInfo.VLArbitrationHighCap",                IB_PIR_COMPMASK_VLARBHIGHCAP},
        {"portInfo.VLArbitrationLowCap",                 IB_PIR_COMPMASK_VLARBLOWCAP},
        {"portInfo.initTypeReply",                       IB_PIR_COMPMASK_INITTYPEREPLY},
        {"portInfo.MTUCap",                              IB_PIR_COMPMASK_MTUCAP},
        {"portInfo.VLStallCount",                        IB_PIR_COMPMASK_VLSTALLCNT},
        {"portInfo.HOQLife",                             IB_PIR_COMPMASK_HOQLIFE},
        {"portInfo.operationalVLs",                      IB_PIR_COMPMASK_OPVLS},
        {"portInfo.partitionEnforcementInbound",         IB_PIR_COMPMASK_PARENFIN},
        {"portInfo.partitionEnforcementOutbound",        IB_PIR_COMPMASK_PARENFOUT},
        {"portInfo.filterRawInbound",                    IB_PIR_COMPMASK_FILTERRAWIN},
        {"portInfo.filterRawOutbound",                   IB_PIR_COMPMASK_FILTERRAWOUT},
        {"portInfo.MKeyViolations",                      IB_PIR_COMPMASK_MKEYVIO},
        {"portInfo.PKeyViolations",                      IB_PIR_COMPMASK_PKEYVIO},
        {"portInfo.QKeyViolations",                      IB_PIR_COMPMASK_QKEYVIO},
        {"portInfo.GUIDCap",                             IB_PIR_COMPMASK_GUIDCAP},
        {"portInfo.clientReregister",                    IB_PIR_COMPMASK_CLIENTREREG},
        {"portInfo.multicastPKeyTrapSuppressionEnabled", IB_PIR_COMPMASK_RESV3},
        {"portInfo.subnetTimeOut",                       IB_PIR_COMPMASK_SUBNTO},
        {"portInfo.reserved_416",                        IB_PIR_COMPMASK_RESV4},
        {"portInfo.respTimeValue",                       IB_PIR_COMPMASK_RESPTIME},
        {"portInfo.localPhyErrors",                      IB_PIR_COMPMASK_LOCALPHYERR},
        {"portInfo.overrunErrors",                       IB_PIR_COMPMASK_OVERRUNERR},
        {"portInfo.maxCreditHint",                       IB_PIR_COMPMASK_MAXCREDHINT},
        {"portInfo.reserved_448",                        IB_PIR_COMPMASK_RESV5},
        {"portInfo.linkRoundTripLatency",                IB_PIR_COMPMASK_LINKRTLAT},
        {"portInfo.capabilityMask2",                     IB_PIR_COMPMASK_CAPMASK2},
        {"portInfo.linkSpeedExtActive",                  IB_PIR_COMPMASK_LINKSPDEXTACT},
        {"portInfo.linkSpeedExtSupported",               IB_PIR_COMPMASK_LINKSPDEXTSUPP},
        {"portInfo.reserved_504",                        IB_PIR_COMPMASK_RESV7},
        {"portInfo.linkSpeedExtEnabled",                 IB_PIR_COMPMASK_LINKSPDEXTENAB},
    }},
    {"SAMCMemberRecord", {
        {"MGID",                   IB_MCR_COMPMASK_MGID},
        {"portGID",                IB_MCR_COMPMASK_PORT_GID},
        {"QKey",                   IB_MCR_COMPMASK_QKEY},
        {"MLID",                   IB_MCR_COMPMASK_MLID},
        {"MTUSelector",            IB_MCR_COMPMASK_MTU_SEL},
        {"MTU",                    IB_MCR_COMPMASK_MTU},
        {"TClass",                 IB_MCR_COMPMASK_TCLASS},
        {"PKey",                   IB_MCR_COMPMASK_PKEY},
        {"rateSelector",           IB_MCR_COMPMASK_RATE_SEL},
        {"rate",                   IB_MCR_COMPMASK_RATE},
        {"packetLifeTimeSelector", IB_MCR_COMPMASK_LIFE_SEL},
        {"packetLifeTime",         IB_MCR_COMPMASK_LIFE},
        {"SL",                     IB_MCR_COMPMASK_SL},
        {"flowLabel",              IB_MCR_COMPMASK_FLOW},
        {"hopLimit",               IB_MCR_COMPMASK_HOP},
        {"scope",                  IB_MCR_COMPMASK_SCOPE},
        {"joinState",              IB_MCR_COMPMASK_JOIN_STATE},
        {"proxyJoin",              IB_MCR_COMPMASK_PROXY},
    }},
    {"SAGUIDInfoRecord", {
        {"LID",                  IB_GIR_COMPMASK_LID},
        {"blockNum",             IB_GIR_COMPMASK_BLOCKNUM},
        {"reserved_24",          IB_GIR_COMPMASK_RESV1},
        {"reserved_32",          IB_GIR_COMPMASK_RESV2},
        {"GUIDInfo.GUIDBlock_0", IB_GIR_COMPMASK_GID0},
        {"GUIDInfo.GUIDBlock_1", IB_GIR_COMPMASK_GID1},
        {"GUIDInfo.GUIDBlock_2", IB_GIR_COMPMASK_GID2},
        {"GUIDInfo.GUIDBlock_3", IB_GIR_COMPMASK_GID3},
        {"GUIDInfo.GUIDBlock_4", IB_GIR_COMPMASK_GID4},
        {"GUIDInfo.GUIDBlock_5", IB_GIR_COMPMASK_GID5},
        {"GUIDInfo.GUIDBlock_6", IB_GIR_COMPMASK_GID6},
        {"GUIDInfo.GUIDBlock_7", IB_GIR_COMPMASK_GID7},
    }},
    {"SAMultiPathRecord", {
        {"rawTraffic",             IB_MPR_COMPMASK_RAWTRAFFIC},
        {"reserved_1",             IB_MPR_COMPMASK_RESV0},
        {"flowLabel",              IB_MPR_COMPMASK_FLOWLABEL},
        {"hopLimit",               IB_MPR_COMPMASK_HOPLIMIT},
        {"TClass",                 IB_MPR_COMPMASK_TCLASS},
        {"reversible",             IB_MPR_COMPMASK_REVERSIBLE},
        {"numbPath",               IB_MPR_COMPMASK_NUMBPATH},
        {"PKey",                   IB_MPR_COMPMASK_PKEY},
        {"QOSClass",               IB_MPR_COMPMASK_QOS_CLASS},
        {"SL",                     IB_MPR_COMPMASK_SL},
        {"MTUSelector",            IB_MPR_COMPMASK_MTUSELEC},
        {"MTU",                    IB_MPR_COMPMASK_MTU},
        {"rateSelector",           IB_MPR_COMPMASK_RATESELEC},
        {"rate",                   IB_MPR_COMPMASK_RATE},
        {"packetLifeTimeSelector", IB_MPR_COMPMASK_PKTLIFETIMESELEC},
        {"packetLifeTime",         IB_MPR_COMPMASK_PKTLIFETIME},
        {"serviceID8MSB",          IB_MPR_COMPMASK_SERVICEID_MSB},
        {"independenceSelector",   IB_MPR_COMPMASK_INDEPSELEC},
        {"reserved_114",           IB_MPR_COMPMASK_RESV3},
        {"SGIDCount",              IB_MPR_COMPMASK_SGIDCOUNT},
        {"DGIDCount",              IB_MPR_COMPMASK_DGIDCOUNT},
        {"serviceID56LSB",         IB_MPR_COMPMASK_SERVICEID_LSB},
    }},
    {"SASMInfoRecord", {
        {"LID",             IB_SMIR_COMPMASK_LID},
        {"reserved_16",     IB_SMIR_COMPMASK_RESV0},
        {"SMInfo.GUID",     IB_SMIR_COMPMASK_GUID},
        {"SMInfo.SMKey",    IB_SMIR_COMPMASK_SMKEY},
        {"SMInfo.actCount", IB_SMIR_COMPMASK_ACTCOUNT},
        {"SMInfo.priority", IB_SMIR_COMPMASK_PRIORITY},
        {"SMInfo.SMState",  IB_SMIR_COMPMASK_SMSTATE},
    }},
    {"SAInformInfoRecord", {
        {"subscriberGID",            IB_IIR_COMPMASK_SUBSCRIBERGID},
        {"enumeration",              IB_IIR_COMPMASK_ENUM},
        {"reserved_144",             IB_IIR_COMPMASK_RESV0},
        {"informInfo.GID",           IB_IIR_COMPMASK_GID},
        {"informInfo.LIDRangeBegin", IB_IIR_COMPMASK_LIDRANGEBEGIN},
        {"informInfo.LIDRangeEnd",   IB_IIR_COMPMASK_LIDRANGEEND},
        {"informInfo.reserved_160",  IB_IIR_COMPMASK_RESV1},
        {"informInfo.isGeneric",     IB_IIR_COMPMASK_ISGENERIC},
        {"informInfo.subscribe",     IB_IIR_COMPMASK_SUBSCRIBE},
        {"informInfo.type",          IB_IIR_COMPMASK_TYPE},
        {"informInfo.trapNumber",    IB_IIR_COMPMASK_TRAPNUMB},
        {"informInfo.QPN",           IB_IIR_COMPMASK_QPN},
        {"informInfo.reserved_248",  IB_IIR_COMPMASK_RESV2},
        {"informInfo.respTimeValue", IB_IIR_COMPMASK_RESPTIME},
        {"informInfo.reserved_256",  IB_IIR_COMPMASK_RESV3},
        {"informInfo.producerType",  IB_IIR_COMPMASK_PRODTYPE},
    }},
};
// clang-format on

} // namespace

TEST_CASE("component masks equal those that OpenSM uses") {
    for (const record_masks& record : opensm_masks) {
        const structure* s = find_structure(record.structure);
        REQUIRE(s);
        std::map<std::string, u64> ours;
        for (const component& c : components_of(*s->info)) ours[c.name] |= u64{1} << c.bit;
        for (const auto& [name, theirs] : record.components) {
            INFO(record.structure << '.' << name);
            u8 wire[8];
            std::memcpy(wire, &theirs, sizeof(wire));
            REQUIRE(ours.contains(name));
            CHECK(ours[name] == load_be<u64>(wire));
        }
    }
}
