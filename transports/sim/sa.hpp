// SPDX-License-Identifier: MIT
// sa.hpp - the subnet administrator of a simulated subnet (IBA 15.2, 15.4). Knows no way.
#pragma once
#include "records.hpp"
#include <comad/server/responder.hpp>

namespace comad::transports::sim {

/// Answers Get and GetTable of every record that records.hpp knows, Set and Delete of services, and ClassPortInfo. Records
/// match in every component that the mask has; a mask with bits that the record has not is invalid.
class administrator {
public:
    explicit administrator(attributes& of) : of_(of) {}
    server::response answer(const server::request& r, mad::time_point now);

private:
    server::response answer_query(const server::request& r, const iba::record_info& record, mad::time_point now);
    server::response set_service(const server::request& r, mad::time_point now);
    server::response remove_service(const server::request& r, mad::time_point now);

    attributes& of_;
    services services_;
};

} // namespace comad::transports::sim
